"""What a Markdown heading says once its markup is gone, and the anchor that it names itself."""

from __future__ import annotations

import re
from typing import NamedTuple

from services.chunker.markdown.scanner import inline_tokens

_MARKUP = re.compile(r"[\\`*_\[\]<>&~!]")
_ATTRIBUTES = re.compile(r"\s*\{(?:[^{}]*?#([\w:.-]+))?[^{}]*\}\s*$")
_HTML_ID = re.compile(r"""\b(?:id|name)\s*=\s*["']?([^"'\s>]+)""")


class Title(NamedTuple):
    """A heading's text, and its explicit anchor if it has one."""

    text: str
    anchor: str | None


def read_title(source: str) -> Title:
    """Read the inline source of a heading: `[Linked](url) *title* {#anchor}` gives "Linked title" and "anchor"."""
    anchor = None
    if source.endswith("}"):
        found = _ATTRIBUTES.search(source)
        if found and found.start() > 0:
            anchor = found[1]
            source = source[: found.start()]
    if not _MARKUP.search(source):
        return Title(source, anchor)
    pieces: list[str] = []
    for token in inline_tokens(source):
        if token.type in ("text", "code_inline", "image"):
            pieces.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            pieces.append(" ")
        elif token.type == "html_inline" and anchor is None:
            identifier = _HTML_ID.search(token.content)
            anchor = identifier[1] if identifier else None
    return Title(" ".join("".join(pieces).split()), anchor)
