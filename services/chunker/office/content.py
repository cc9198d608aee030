"""What the readers of all office formats produce: paragraphs and tables in reading order, not yet laid out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from services.chunker.blocks import Kind


@dataclass(slots=True)
class Paragraph:
    """A paragraph; line feeds in `text` are line breaks. `level` is that of a heading, from 1.

    An item of a list has its `marker` ("-", "2.", "b)") and its `depth`, from 0. `mono` is set where all of the text
    is in a font of fixed width.
    """

    text: str
    kind: Kind = Kind.PARAGRAPH
    level: int = 0
    marker: str = ""
    depth: int = 0
    mono: bool = False


@dataclass(slots=True)
class Row:
    """A row of a table: what is in each cell. Cells that a merged one covers are there, and empty."""

    cells: list[list[Item]]
    heading: bool = False


@dataclass(slots=True)
class Table:
    """A table, row by row."""

    rows: list[Row]


Item: TypeAlias = Paragraph | Table


def flat(items: Iterable[Item]) -> str:
    """All text of `items` on one line; the cells of a table within are set apart by commas, its rows by semicolons."""
    return " ".join(filter(None, map(_flat, items)))


def _flat(item: Item) -> str:
    if isinstance(item, Table):
        rows = (", ".join(filter(None, map(flat, row.cells))) for row in item.rows)
        return "; ".join(filter(None, rows))
    text = " ".join(item.text.split())
    return f"{item.marker} {text}" if item.marker and text else text
