"""Results on standard output: one JSON document, or lines for a person."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any


def emit(result: Any, as_json: bool, lines: Callable[[Any], Iterable[str]]) -> None:
    """Print the result as JSON, or as the lines that are made of it."""
    if as_json:
        print(json.dumps(result, ensure_ascii=False, default=str))
    else:
        for line in lines(result):
            print(line)


def table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> Iterable[str]:
    """Rows under a head, in columns as wide as they need to be."""
    cells = [list(columns), *([_cell(row.get(column)) for column in columns] for row in rows)]
    widths = [max(len(line[at]) for line in cells) for at in range(len(columns))]
    for line in cells:
        yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    text = " ".join(text.split())
    return text if len(text) <= 80 else text[:79] + "…"
