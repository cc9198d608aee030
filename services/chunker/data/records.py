"""JSON documents."""

from __future__ import annotations

from services.chunker.blocks import Document, DocumentBuilder
from services.chunker.data.json_values import read_json
from services.chunker.data.outline import Outline
from services.chunker.data.shapes import title_of


def parse_json(text: str, charset: str | None) -> Document:
    """Parse JSON or JSON Lines. Raises SourceRefused with BROKEN, TOO_DEEP or NO_TEXT."""
    value = read_json(text)
    builder = DocumentBuilder()
    Outline(builder).write(value)
    return builder.finish(title_of(value), "application/json", charset)
