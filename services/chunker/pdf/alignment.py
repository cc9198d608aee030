"""Tables without rules: rows of segments that stand in columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeGuard

from services.chunker.pdf.columns import Item
from services.chunker.pdf.grids import Table
from services.chunker.pdf.markers import is_marker
from services.chunker.pdf.rows import cell_text, row_text
from services.chunker.pdf.words import Segment

Row = list[Segment]
_FEWEST_ROWS = 3
# In sizes of the font: the least gap between columns, and the most between the middles of two rows of a table.
_GAP = 0.8
_FARTHEST = 4.0
# A longer cell, in characters, is running text; and a table has at most so much of it.
_LONG_CELL = 60
_LONG_SHARE = 0.3
_WIDEST = 4000


def with_tables(rows: Sequence[list[Item]]) -> Iterator[Row | Table]:
    """Yield `rows` from top to bottom, those that form a table as one."""
    run: list[Row] = []
    for row in rows:
        if _plain(row) and (not run or _follows(run[-1], row)):
            run.append(row)
            continue
        yield from _flushed(run)
        run = []
        if _plain(row):
            run = [row]
        else:
            yield from _mixed(row)
    yield from _flushed(run)


def _plain(row: list[Item]) -> TypeGuard[Row]:
    return all(isinstance(item, Segment) for item in row)


def _mixed(row: list[Item]) -> Iterator[Row | Table]:
    for item in row:
        yield item if isinstance(item, Table) else [item]


def _follows(above: Row, row: Row) -> bool:
    gap = row[0].y0 - max(item.y1 for item in above)
    return gap < _FARTHEST * max(above[0].size, 1.0)


def _flushed(run: list[Row]) -> Iterator[Row | Table]:
    """The rows of a run; each longest stretch of them that is a table as one."""
    start = 0
    failures = 0
    while start < len(run):
        end = _stretch(run, start)
        columns = _columns(run[start:end]) if end - start >= _FEWEST_ROWS else None
        if columns is not None:
            yield _table(run[start:end], columns)
            start = end
            continue
        # The rows above a table may spoil it: it is tried again below them, in steps that grow.
        failures = failures + 1 if end - start >= _FEWEST_ROWS else 0
        step = max(1, 2 ** (failures - 4)) if failures else 1
        yield from run[start : start + step]
        start += step


def _stretch(run: list[Row], start: int) -> int:
    """Where the rows end that may be a table's from `start` on: several segments, or one after such a row."""
    end = start
    several = 0
    while end < len(run):
        row = run[end]
        if len(row) > 1:
            several = end + 1
        elif end == start or several < end - 1 or not _narrow(row[0], run[start:several]):
            break
        end += 1
    return several if several else start


def _narrow(only: Segment, rows: list[Row]) -> bool:
    """Whether a segment alone in its row stands within one column."""
    widest = max(item.x1 for row in rows for item in row) - min(item.x0 for row in rows for item in row)
    return only.x1 - only.x0 < 0.5 * widest and len(only.text) <= _LONG_CELL


def _columns(rows: list[Row]) -> list[float] | None:
    """The left edges of the columns that all rows keep to; None when there are no two."""
    items = [item for row in rows for item in row]
    if all(item.words[0].style.mono for item in items):
        return None
    left, right = min(item.x0 for item in items), max(item.x1 for item in items)
    if right - left > _WIDEST:
        return None
    covered = [0] * (int(right - left) + 2)
    for item in items:
        for point in range(int(item.x0 - left), int(item.x1 - left) + 1):
            covered[point] += 1
    edges = _edges(covered, len(rows) // 10, _GAP * items[0].size)
    if len(edges) < 2:
        return None
    starts = [left + edge for edge in edges]
    return starts if _is_table(rows, starts) else None


def _edges(covered: list[int], few: int, gap: float) -> list[int]:
    """Where columns begin: the places after gaps that at most `few` rows cross."""
    edges = [0]
    blank = 0
    for point, count in enumerate(covered):
        if count > few:
            if blank >= gap:
                edges.append(point)
            blank = 0
        else:
            blank += 1
    return edges


def _is_table(rows: list[Row], starts: list[float]) -> bool:
    cells = [item.text for row in rows for item in row]
    if sum(len(text) > _LONG_CELL for text in cells) > _LONG_SHARE * len(cells):
        return False
    first = [row[0].text for row in rows if _column(row[0], starts) == 0]
    if not first or (len(starts) == 2 and sum(map(is_marker, first)) > 0.5 * len(first)):
        return False
    if not all(_aligned(rows, starts, column) for column in range(1, len(starts))):
        return False
    several = sum(1 for row in rows if len({_column(item, starts) for item in row}) > 1)
    return several >= max(_FEWEST_ROWS, 0.6 * len(rows))


def _aligned(rows: list[Row], starts: list[float], column: int) -> bool:
    """Whether a column's items share an edge or middle, or are numbers; the wide gaps of justified text do not."""
    items = [item for row in rows for item in row if _column(item, starts) == column]
    if not items:
        return False
    if 2 * sum(_is_number(item.text) for item in items) > len(items) or len(starts) > 4:
        return True
    near = items[0].size
    edges = ([item.x0 for item in items], [item.x0 + item.x1 for item in items])
    return any(2 * sum(abs(edge - other) < near for other in some) > len(some) for some in edges for edge in some[:20])


def _is_number(text: str) -> bool:
    return 5 * sum(map(str.isdigit, text)) >= 2 * len(text)


def _column(item: Segment, starts: list[float]) -> int:
    middle = item.x0 + min(1.0, (item.x1 - item.x0) / 2)
    return max((index for index, start in enumerate(starts) if start <= middle), default=0)


def _table(rows: list[Row], starts: list[float]) -> Table:
    lines: list[list[list[Segment]]] = []
    for row in rows:
        cells: list[list[Segment]] = [[] for _ in starts]
        for item in row:
            cells[_column(item, starts)].append(item)
        if lines and _continues(lines[-1], cells):
            for cell, more in zip(lines[-1], cells, strict=True):
                cell.extend(more)
        else:
            lines.append(cells)
    texts = [[_text(cell) for cell in cells] for cells in lines]
    items = [item for row in rows for item in row]
    right, bottom = max(item.x1 for item in items), max(item.y1 for item in items)
    return Table(texts, starts[0], rows[0][0].y0, right, bottom, min(item.place for item in items))


def _continues(above: list[list[Segment]], cells: list[list[Segment]]) -> bool:
    """Whether `cells` are the next lines of the cells above: close to them, the first column and others blank."""
    if cells[0] or sum(map(bool, cells)) >= sum(map(bool, above)):
        return False
    bottom = max(item.y1 for cell in above for item in cell)
    first = next(cell[0] for cell in cells if cell)
    filled_above = all(over for over, cell in zip(above, cells, strict=True) if cell)
    return filled_above and first.y0 - bottom < 0.35 * first.size


def _text(cell: list[Segment]) -> str:
    rows_apart = any(item.y0 > cell[0].y1 - 1 for item in cell)
    if rows_apart:
        return cell_text([word for item in cell for word in item.words])
    return row_text([item.text for item in cell])
