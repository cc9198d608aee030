"""Ruled tables: where rules cross, a grid; its cells, merged ones too, and the words in them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass

from services.chunker.pdf.rows import cell_text, line_rows
from services.chunker.pdf.rules import Rule, Rules
from services.chunker.pdf.words import Segment, Word, segment

# In points: how far rules may miss one another and still touch, and the least width of a column or row.
_REACH = 3.0
_THINNEST = 5.0
_FEW_ROWS = 5
# Dots that lead to the next column end what stands before them.
_LEADER = re.compile(r"\.{3,}$")
_MOST_CROSSINGS = 250_000
# More text than this in one cell is a page laid out with rules, not a table.
_LONGEST_CELL = 1500
# A cell with more than so much, and more than all others together, is no cell.
_LONG_CELL = 300


@dataclass(slots=True)
class Table:
    """Rows of cells; the box is in points of the page's frame, `place` as that of a segment."""

    rows: list[list[str]]
    x0: float
    y0: float
    x1: float
    y1: float
    place: int


@dataclass(slots=True)
class _Grid:
    xs: list[float]
    ys: list[float]
    across: list[Rule]
    down: list[Rule]

    def parted_right(self, row: int, column: int) -> bool:
        """Whether a rule stands between a cell and the one to its right."""
        middle = (self.ys[row] + self.ys[row + 1]) / 2
        return _covered(self.down, self.xs[column + 1], middle)

    def parted_below(self, row: int, column: int) -> bool:
        """Whether a rule lies between a cell and the one below it."""
        middle = (self.xs[column] + self.xs[column + 1]) / 2
        return _covered(self.across, self.ys[row + 1], middle)


def ruled_tables(segments: list[Segment], found: Rules) -> tuple[list[Table], list[Segment]]:
    """Return the ruled tables of a page and the segments outside of them."""
    tables: list[Table] = []
    for grid in _grids(found):
        inside: list[Word] = []
        outside: list[Segment] = []
        for part in segments:
            within = [word for word in part.words if _in_grid(grid, word)]
            inside.extend(within)
            if len(within) < len(part.words):
                rest = part.words if not within else [word for word in part.words if not _in_grid(grid, word)]
                outside.append(part if not within else segment(rest, part.place))
        rows = _rows(grid, inside)
        if rows is not None:
            places = [part.place for part in segments if any(_in_grid(grid, word) for word in part.words)]
            tables.append(Table(rows, grid.xs[0], grid.ys[0], grid.xs[-1], grid.ys[-1], min(places)))
            segments = outside
    return tables, segments


def _grids(found: Rules) -> list[_Grid]:
    """Rules that touch one another, group by group."""
    across, down = found.across, found.down
    if not across or not down or len(across) * len(down) > _MOST_CROSSINGS:
        return []
    leader = list(range(len(across) + len(down)))

    def root(index: int) -> int:
        while leader[index] != index:
            leader[index] = leader[leader[index]]
            index = leader[index]
        return index

    for i, level in enumerate(across):
        for j, upright in enumerate(down, len(across)):
            if (
                level.start - _REACH <= upright.at <= level.end + _REACH
                and upright.start - _REACH <= level.at <= upright.end + _REACH
            ):
                leader[root(i)] = root(j)
    groups: defaultdict[int, tuple[list[Rule], list[Rule]]] = defaultdict(lambda: ([], []))
    for i, level in enumerate(across):
        groups[root(i)][0].append(level)
    for j, upright in enumerate(down, len(across)):
        groups[root(j)][1].append(upright)
    made = [_grid(levels, uprights) for levels, uprights in groups.values() if levels and uprights]
    return sorted(
        (grid for grid in made if len(grid.xs) > 2 and len(grid.ys) > 1), key=lambda grid: (grid.ys[0], grid.xs[0])
    )


def _grid(across: list[Rule], down: list[Rule]) -> _Grid:
    xs = [rule.at for rule in down] + [min(rule.start for rule in across), max(rule.end for rule in across)]
    ys = [rule.at for rule in across] + [min(rule.start for rule in down), max(rule.end for rule in down)]
    return _Grid(_distinct(xs), _distinct(ys), across, down)


def _distinct(places: list[float]) -> list[float]:
    kept: list[float] = []
    for place in sorted(places):
        if not kept or place - kept[-1] >= _THINNEST:
            kept.append(place)
    return kept


def _covered(rules: list[Rule], at: float, middle: float) -> bool:
    return any(abs(rule.at - at) < _THINNEST and rule.start <= middle <= rule.end for rule in rules)


def _in_grid(grid: _Grid, word: Word) -> bool:
    x, y = (word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2
    return grid.xs[0] <= x <= grid.xs[-1] and grid.ys[0] <= y <= grid.ys[-1]


def _rows(grid: _Grid, words: list[Word]) -> list[list[str]] | None:
    """The texts of the grid row by row; None when it is no table."""
    owner = _owners(grid)
    cells: defaultdict[tuple[int, int], list[Word]] = defaultdict(list)
    for word in words:
        row = min(bisect_right(grid.ys, (word.y0 + word.y1) / 2), len(grid.ys) - 1) - 1
        column = min(bisect_right(grid.xs, (word.x0 + word.x1) / 2), len(grid.xs) - 1) - 1
        cells[owner[max(row, 0), max(column, 0)]].append(word)
    rows: list[list[str]] = []
    for row in range(len(grid.ys) - 1):
        filled = {column: cells[row, column] for column in range(len(grid.xs) - 1) if (row, column) in cells}
        rows.extend(_texts(filled, len(grid.xs) - 1, split=len(grid.ys) < _FEW_ROWS))
    used = [column for column in range(len(grid.xs) - 1) if any(row[column] for row in rows)]
    rows = [[row[column] for column in used] for row in rows]
    return rows if len(used) > 1 and _is_table(rows) else None


def _is_table(rows: list[list[str]]) -> bool:
    """Whether rows are a table's, and not a form or a page laid out with rules."""
    several = sum(1 for row in rows if sum(map(bool, row)) > 1)
    lengths = [len(text) for row in rows for text in row]
    lopsided = max(lengths, default=0) > max(_LONG_CELL, sum(lengths) / 2)
    return several > 1 and 2 * several >= len(rows) and max(lengths) <= _LONGEST_CELL and not lopsided


def _owners(grid: _Grid) -> dict[tuple[int, int], tuple[int, int]]:
    """For each cell of the grid the first one of the merged cell that it belongs to."""
    owner: dict[tuple[int, int], tuple[int, int]] = {}
    for row in range(len(grid.ys) - 1):
        for column in range(len(grid.xs) - 1):
            above = row > 0 and not grid.parted_below(row - 1, column)
            left = column > 0 and not grid.parted_right(row, column - 1)
            if above:
                owner[row, column] = owner[row - 1, column]
            elif left:
                owner[row, column] = owner[row, column - 1]
            else:
                owner[row, column] = (row, column)
    return owner


def _texts(cells: dict[int, list[Word]], columns: int, *, split: bool) -> list[list[str]]:
    """One row of the table, or with `split` several where the rules leave out those between rows of text."""
    if not cells:
        return []
    words = [word for part in cells.values() for word in part]
    lines = line_rows(words)
    column_of = {id(word): column for column, words in cells.items() for word in words}
    starts = [at for at, line in enumerate(lines) if 2 * len({column_of[id(word)] for word in line}) > len(cells)]
    fewest = 2 if any(_LEADER.search(word.text) for word in words) else 3
    if not split or len(cells) < 2 or len(starts) < fewest or 2 * len(starts) < len(lines) or starts[0]:
        starts = [0]
    parts = [lines[start:end] for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)]
    return [
        [
            cell_text([word for line in part for word in line if column_of[id(word)] == column])
            for column in range(columns)
        ]
        for part in parts
    ]
