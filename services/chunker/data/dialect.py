"""How the rows of a table in plain text are written: the delimiter, and whether quotes mean anything."""

from __future__ import annotations

import csv
import re
from collections import Counter
from io import StringIO
from itertools import islice
from typing import Literal, NamedTuple

_DELIMITERS = (",", ";", "\t", "|")
_NAMED = re.compile(r'\A"?sep=(.)"?\n', re.IGNORECASE)
_SAMPLE_ROWS = 200
_SAMPLE = 65536
# Rows of a table have mostly the same number of cells; prose has commas, but not so.
_LEAST_SHARE = 0.5
_LEAST_SHARE_LIKE_PROSE = 0.9
# A quote that is never closed swallows what follows it.
_LONGEST_CELL_LINES = 500


class Rows(NamedTuple):
    """The rows of a table, and what separates their cells."""

    rows: list[list[str]]
    delimiter: str


def read_rows(text: str) -> Rows | None:
    """Read the rows of `text`, whose line ends are line feeds; None when it is no table."""
    named = _NAMED.match(text)
    if named:
        text = text[named.end() :]
    delimiter = named[1] if named else _delimiter(text)
    if delimiter is None:
        return None
    rows = _rows(text, delimiter, quotes=True)
    if rows is None or any(cell.count("\n") > _LONGEST_CELL_LINES for row in rows for cell in row):
        rows = _rows(text, delimiter, quotes=False)
    return Rows(rows, delimiter) if rows else None


def _delimiter(text: str) -> str | None:
    """The delimiter that cuts the first rows into the most cells, and those alike; None for prose."""
    best: tuple[float, str] | None = None
    sample = text[:_SAMPLE]
    for delimiter in _DELIMITERS:
        if delimiter not in sample:
            continue
        rows = list(islice(_rows(sample, delimiter, quotes=True) or [], _SAMPLE_ROWS))
        if len(sample) < len(text):
            rows = rows[:-1]
        widths = Counter(len(row) for row in rows)
        if not widths:
            continue
        width, count = widths.most_common(1)[0]
        share = count / widths.total()
        like_prose = sample.count(delimiter + " ") > 0.8 * sample.count(delimiter)
        if width > 1 and share >= (_LEAST_SHARE_LIKE_PROSE if like_prose else _LEAST_SHARE):
            best = max(best or (0.0, ""), (share * min(width, 3) + width / 1000, delimiter))
    return best[1] if best else None


def _rows(text: str, delimiter: str, *, quotes: bool) -> list[list[str]] | None:
    """All rows; None when a cell is longer than the reader allows."""
    quoting: Literal[0, 3] = 0 if quotes else 3  # csv.QUOTE_MINIMAL, csv.QUOTE_NONE
    reader = csv.reader(StringIO(text), delimiter=delimiter, quoting=quoting)
    try:
        return [row for row in reader if row]
    except csv.Error:
        return None
