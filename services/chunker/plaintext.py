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
    add_paragraphs(text, builder)
    return builder.finish(None, "text/plain", charset)


def add_paragraphs(text: str, builder: DocumentBuilder) -> None:
    """Add the paragraphs of `text`; one whose every line begins with `>` is a quotation."""
    for paragraph in _BLANK_LINES.split(unix_lines(text)):
        quoted = paragraph.startswith(">") and all(line.startswith(">") for line in paragraph.strip().split("\n"))
        builder.add(Kind.QUOTE if quoted else Kind.PARAGRAPH, paragraph)
