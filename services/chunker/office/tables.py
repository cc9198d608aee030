"""Tables as rows of pipes; tables that only lay out a page are told apart."""

from __future__ import annotations

from collections.abc import Sequence

from services.chunker.blocks import pipe_row
from services.chunker.office.content import Item, Paragraph, Row, Table, flat

# A table with a cell of more characters lays out a page; so does one of a single column.
_LONGEST_CELL = 2000
# Cells with at least so many lines, none of them longer, can be columns of their own within one row.
_FEWEST_STACKED = 3
_LONGEST_STACKED = 60
# Longer header rows are not worth repeating.
_LONGEST_HEADER = 600


def table_lines(table: Table) -> tuple[list[str], int] | None:
    """Return the rows as text and the number of header rows, or None when the table is layout.

    Rows and columns without text are left out. Where no row is marked as a header, the first one is it.
    """
    rows = [line for row in table.rows for line in unstacked(row)]
    full = [(row, texts) for row in rows if any(texts := [flat(cell) for cell in row.cells])]
    width = max((len(texts) for _, texts in full), default=0)
    columns = [place for place in range(width) if any(_at(texts, place) for _, texts in full)]
    if len(columns) < 2 or any(len(cell) > _LONGEST_CELL for _, texts in full for cell in texts):
        return None
    lines = [pipe_row(_at(texts, place) for place in columns) for _, texts in full]
    header = next((place for place, (row, _) in enumerate(full) if not row.heading), 0) or 1
    repeated = header < len(lines) and sum(map(len, lines[:header])) <= _LONGEST_HEADER
    return lines, header if repeated else 0


def unstacked(row: Row) -> list[Row]:
    """Return a row as several where its cells hold as many short lines each, which line up across the row."""
    if row.heading or any(isinstance(item, Table) or item.marker for cell in row.cells for item in cell):
        return [row]
    cells = [_lines(cell) for cell in row.cells]
    full = [lines for lines in cells if any(lines)]
    height = len(full[0]) if full else 0
    longest = max((len(line) for lines in full for line in lines), default=0)
    if len(full) < 2 or height < _FEWEST_STACKED or longest > _LONGEST_STACKED or any(len(x) != height for x in full):
        return [row]
    return [Row([[Paragraph(lines[at])] if any(lines) else [] for lines in cells]) for at in range(height)]


def _lines(cell: Sequence[Item]) -> list[str]:
    """The lines of a cell; blank ones stand for empty places, but not at its end."""
    return "\n".join(item.text for item in cell if isinstance(item, Paragraph)).rstrip().split("\n")


def _at(row: Sequence[str], place: int) -> str:
    return row[place] if place < len(row) else ""
