"""Plain text: paragraphs are what blank lines set apart."""

from __future__ import annotations

import re

from services.chunker.blocks import Document, DocumentBuilder, Kind

_LINE_END = re.compile(r"\r\n?|\f|\x0b|\x85|\u2028|\u2029")
_BLANK_LINES = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")


def unix_lines(text: str) -> str:
    """Return `text` with every line end as a line feed."""
    return _LINE_END.sub("\n", text) if _LINE_END.search(text) else text


def parse_text(text: str, charset: str | None) -> Document:
    """Parse plain text. Raises SourceRefused(NO_TEXT) when it is blank."""
    builder = DocumentBuilder()
    for paragraph in _BLANK_LINES.split(unix_lines(text)):
        builder.add(Kind.PARAGRAPH, paragraph)
    return builder.finish(None, "text/plain", charset)
