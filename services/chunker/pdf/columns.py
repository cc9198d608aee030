"""Reading order: a page is cut into regions, each of which is read line by line from top to bottom."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from services.chunker.pdf.grids import Table
from services.chunker.pdf.rules import Rule
from services.chunker.pdf.words import Segment

Item = Segment | Table

_MOST_CANDIDATES = 24
_MOST_COMPARED = 25_000
_DEEPEST = 12
# Edges so near to one another, in points, are one column's; a rule reaches so far over a gutter that it crosses.
_EDGE = 3
_OVERLAP = 20.0
# Characters of the typical line: of running text, and of columns of short entries as in an index.
_PROSE, _ENTRY = 20, 8


class _Cut(NamedTuple):
    """A part of the page that a gutter divides (`right` holds something), or one that it does not."""

    left: list[Item]
    right: list[Item]


def regions(items: list[Item], across: Sequence[Rule], depth: int = 0) -> list[list[Item]]:
    """Divide `items` into regions in reading order; rules `across` a gutter divide the columns at its sides too."""
    if len(items) < 5 or depth > _DEEPEST:
        return [items]
    size = median(_size(item) for item in items)
    best: list[_Cut] = []
    most = 0
    for gutter in _candidates(items):
        cuts = _cuts(items, across, gutter, size)
        lines = sum(min(len(cut.left), len(cut.right)) for cut in cuts)
        if lines > most:
            best, most = cuts, lines
    if not best:
        return [items]
    found: list[list[Item]] = []
    for cut in best:
        for part in (cut.left, cut.right):
            if part:
                found.extend(regions(part, across, depth + 1))
    return found


def _size(item: Item) -> float:
    return item.size if isinstance(item, Segment) else 10.0


def _candidates(items: list[Item]) -> list[float]:
    """Left edges that several items share and that have something to their left."""
    edges = Counter(round(item.x0 / _EDGE) for item in items)
    ends = sorted(item.x1 for item in items)
    shared = [edge for edge, count in edges.most_common() if count + edges[edge + 1] > 1 and ends[1] < edge * _EDGE]
    # The more there is on the page, the fewer places are tried: the work is the product.
    tried = min(_MOST_CANDIDATES, 2 + _MOST_COMPARED // len(items))
    return [min(item.x0 for item in items if round(item.x0 / _EDGE) == edge) for edge in shared[:tried]]


def _cuts(items: list[Item], across: Sequence[Rule], gutter: float, size: float) -> list[_Cut]:
    """What a gutter that ends at `gutter` makes of the items, from top to bottom."""
    left = [item for item in items if item.x1 <= gutter - 1]
    right = [item for item in items if item.x0 >= gutter - 1]
    if len(left) < 2 or len(right) < 2 or sorted(item.x1 for item in left)[len(left) * 9 // 10] > gutter - 0.6 * size:
        return []
    crossing = sorted((item for item in items if item.x1 > gutter - 1 > item.x0), key=lambda item: item.y1)
    bars = [(item.y0, item.y1) for item in crossing]
    bars += [(rule.at, rule.at) for rule in across if rule.start < gutter - _OVERLAP and rule.end > gutter + _OVERLAP]
    bars.sort(key=lambda bar: bar[1])
    ends = [bar[1] for bar in bars]
    # Even parts lie between the bars, odd ones are the bars with what stands beside them.
    parts = [_Cut([], []) for _ in range(2 * len(bars) + 1)]
    for side, members in enumerate((left, right, crossing)):
        for item in members:
            middle = (item.y0 + item.y1) / 2
            index = bisect_left(ends, middle)
            on_bar = side == 2 or (index < len(bars) and bars[index][0] <= middle)
            (parts[2 * index + 1].left if on_bar else parts[2 * index][side]).append(item)
    return _joined(parts, size)


def _joined(parts: list[_Cut], size: float) -> list[_Cut]:
    """The parts with those that are not in columns joined to their neighbours of the same kind."""
    cuts: list[_Cut] = []
    columns = False
    for part in parts:
        if not part.left and not part.right:
            continue
        if part.right and _in_columns(part, size):
            columns = True
            cuts.append(part)
        elif cuts and not cuts[-1].right:
            cuts[-1].left.extend(part.left + part.right)
        else:
            cuts.append(_Cut(part.left + part.right, []))
    return cuts if columns else []


def _in_columns(part: _Cut, size: float) -> bool:
    """Whether the two sides are columns to be read one after the other, and not the columns of a table."""
    fewest = min(len(part.left), len(part.right))
    if fewest < 2 or any(max(i.x1 for i in side) - min(i.x0 for i in side) < 6 * size for side in part):
        return any(isinstance(item, Table) for side in part for item in side) and _apart(part)
    typical = min(_length_of_rows(side, size) for side in part)
    apart = _apart(part)
    if typical >= _PROSE:
        return apart or fewest > 3
    return apart and typical >= _ENTRY and fewest > 3


def _apart(part: _Cut) -> bool:
    """Whether the file draws one side before the other, but for a few strays."""
    if not part.left or not part.right:
        return False
    left, right = (sorted(item.place for item in side) for side in part)
    return _mostly_before(left, right) or _mostly_before(right, left)


def _mostly_before(first: list[int], then: list[int]) -> bool:
    return first[(len(first) - 1) * 19 // 20] < then[len(then) // 20]


def _length_of_rows(side: list[Item], size: float) -> float:
    """The mean length of the rows of a side, in characters."""
    rows = {round((item.y0 + item.y1) / size) for item in side}
    return sum(map(_length, side)) / len(rows)


def _length(item: Item) -> int:
    return _PROSE if isinstance(item, Table) else item.length
