"""Tables in plain text: CSV, TSV and their like."""

from __future__ import annotations

import re

from services.chunker.blocks import Document, DocumentBuilder, Kind, pipe_row, table_pieces
from services.chunker.data.dialect import read_rows
from services.chunker.plaintext import parse_text, unix_lines

_NUMBER = re.compile(r"[\s\d.,:%€$£+\-/()]*\d[\s\d.,:%€$£+\-/()eE]*")
# A longer row is written as a paragraph of its own, with the name of the column before each cell.
_LONGEST_ROW = 1000


def parse_delimited(text: str, charset: str | None) -> Document:
    """Parse a table; what is none is read as plain text. Raises SourceRefused(NO_TEXT) when it is blank."""
    text = unix_lines(text.replace("\x00", ""))
    table = read_rows(text)
    if table is None:
        return parse_text(text, charset)
    builder = DocumentBuilder()
    rows = [[" ".join(cell.split()) for cell in row] for row in table.rows]
    rows = _after_preamble([row for row in rows if any(row)], builder)
    header = rows[0] if rows and _is_header(rows) else []
    _write(rows[1:] if header else rows, header, builder)
    media_type = "text/tab-separated-values" if table.delimiter == "\t" else "text/csv"
    return builder.finish(None, media_type, charset)


def _after_preamble(rows: list[list[str]], builder: DocumentBuilder) -> list[list[str]]:
    """Put out what stands above the table, rows of one cell; return the others."""
    width = max((len(row) for row in rows[:50]), default=0)
    start = 0
    while width > 2 and start < len(rows) - 1 and sum(map(bool, rows[start])) == 1:
        builder.add(Kind.PARAGRAPH, "".join(rows[start]))
        start += 1
    return rows[start:]


def _is_header(rows: list[list[str]]) -> bool:
    """Whether the first row names the columns: names are no numbers, are short, and come once."""
    names = [name for name in rows[0] if name]
    if len(rows) < 2 or len(names) < 2 or len(set(names)) < len(names):
        return False
    return not any(len(name) > 100 or _NUMBER.fullmatch(name) for name in names)


def _write(rows: list[list[str]], header: list[str], builder: DocumentBuilder) -> None:
    lines: list[str] = []
    for row in rows:
        if header and sum(map(len, row)) > _LONGEST_ROW:
            _write_table(lines, header, builder)
            lines = []
            builder.add(Kind.PARAGRAPH, _record(row, header))
        else:
            lines.append(pipe_row(row))
    _write_table(lines, header, builder)


def _write_table(lines: list[str], header: list[str], builder: DocumentBuilder) -> None:
    if lines:
        head = [pipe_row(header)] if header else []
        for piece in table_pieces(head + lines, len(head)):
            builder.add(Kind.TABLE, piece)


def _record(row: list[str], header: list[str]) -> str:
    names = header + [""] * (len(row) - len(header))
    cells = zip(names, row, strict=False)
    return "\n".join(f"{name}: {cell}" if name else cell for name, cell in cells if cell)
