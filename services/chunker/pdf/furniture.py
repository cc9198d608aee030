"""Running headers, footers and page numbers: rows at the edges of pages that repeat on their neighbours.

The first time that the text of one appears it is kept: it may be the only place that names the document.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from services.chunker.pdf.rows import line_rows
from services.chunker.pdf.words import Segment

# Rows from the edge that may be furniture, pages on each side that are compared, and how many must have the row.
_ROWS = 3
REACH = 5
_FEWEST = 3
_MOST_ASIDE = 8
# In points: how far a row may move from page to page.
_SHIFT = 6.0
_LONGEST = 200
# A row of so many pieces may be a table's, whose next row is nearer than this many times its height.
_PIECES = 3
_CLEAR = 1.0
# Rows with so many words in common may differ in so many words with numbers.
_COMMON_WORDS, _OTHER_NUMBERS = 3, 2

_NUMBER = re.compile(r"(\D*?)(\d+)(\D*)")
_ROMAN = re.compile(r"(\W*?)((?=[ivxlc])c{0,3}(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3}))(\W*)")
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}

# The names of rows that hold a page number and no more.
_PAGE_WORDS = frozenset(
    ("page", "of page", "p", "p.", "seite", "seite von", "página", "de página", "pagina", "di pagina")
)


@dataclass(slots=True)
class Edge:
    """A row at the edge of a page: its words in lower case, its lower end in points, and its segments.

    `apart` says that it is set off from the rows further inside.
    """

    words: Counter[str]
    foot: float
    segments: list[Segment]
    apart: bool

    @property
    def name(self) -> str:
        """What is the same on each page: the words without numbers."""
        return " ".join(sorted(word for word in self.words if any(map(str.isalpha, word)) and _value(word) is None))


@dataclass(slots=True)
class Edges:
    """The rows at the top and at the bottom of page `index`, and those that run in other directions."""

    index: int
    top: list[Edge] = field(default_factory=list)
    bottom: list[Edge] = field(default_factory=list)
    aside: list[Edge] = field(default_factory=list)


def edges(index: int, segments: Sequence[Segment], turned: Sequence[Sequence[Segment]]) -> Edges:
    """The rows of a page that may be furniture; `turned` are its segments in other directions than most."""
    aside = [row for part in turned if len(part) <= _MOST_ASIDE for row in line_rows(part)]
    few = 4 * _ROWS
    top = line_rows(sorted(segments, key=lambda one: one.y0)[:few])
    bottom = line_rows(sorted(segments, key=lambda one: -one.y1)[:few])[::-1]
    return Edges(index, _outer(top), _outer(bottom), [_edge(row, None) for row in aside])


def _outer(rows: list[list[Segment]]) -> list[Edge]:
    """The outer ones of `rows`, which go from the edge inwards."""
    return [_edge(row, after) for row, after in zip(rows[:_ROWS], [*rows[1:], None], strict=False)]


def _edge(row: list[Segment], after: list[Segment] | None) -> Edge:
    words = Counter(" ".join(item.text for item in row)[:_LONGEST].lower().split())
    gap = max(after[0].y0 - row[0].y1, row[0].y0 - after[0].y1) if after else row[0].size * 10
    return Edge(words, row[0].y1, row, gap > _CLEAR * (row[0].y1 - row[0].y0))


class Repeated(NamedTuple):
    """The `id` of each segment of a page that is furniture; those of `first` stand there for the first time."""

    first: set[int]
    dropped: set[int]


class Furniture:
    """Finds the furniture of pages, one after the other."""

    def __init__(self) -> None:
        self._known: set[str] = {""}

    def of(self, page: Edges, neighbours: Sequence[Edges]) -> Repeated:
        """The furniture of `page`; `neighbours` are the edges of the pages around it."""
        found = Repeated(set(), set())
        for own, others in (
            (page.top, [other.top for other in neighbours]),
            (page.bottom, [other.bottom for other in neighbours]),
            (page.aside, [other.aside for other in neighbours]),
        ):
            for edge in own:
                if _is_repeated(edge, page.index, neighbours, others):
                    known = edge.name in self._known or edge.name in _PAGE_WORDS
                    self._known.add(edge.name)
                    (found.dropped if known else found.first).update(id(item) for item in edge.segments)
        return found


def _is_repeated(edge: Edge, index: int, neighbours: Sequence[Edges], others: Sequence[list[Edge]]) -> bool:
    """Whether enough neighbours have such a row; `others` are their rows at the same edge."""
    if not edge.apart and len(edge.segments) >= _PIECES:
        return False
    alike = 0
    for page, rows in zip(neighbours, others, strict=True):
        pages = page.index - index
        alike += any(_alike(edge, row, pages) for row in rows) or _counts_on(edge, [*page.top, *page.bottom], pages)
    return alike + 1 >= _FEWEST


def _alike(edge: Edge, other: Edge, pages: int) -> bool:
    """Whether two rows, so many pages apart, have the same words but for a number that counts the pages.

    In rows that are set off and have several words in common, other numbers may differ too, as those of sections.
    """
    if abs(edge.foot - other.foot) > _SHIFT:
        return False
    mine, theirs = list(edge.words - other.words), list(other.words - edge.words)
    if not mine and not theirs:
        # Numbers that are the same on each page are a table's.
        return bool(edge.name)
    if edge.apart and other.apart and edge.name == other.name and edge.name.count(" ") >= _COMMON_WORDS - 1:
        return len(mine) <= _OTHER_NUMBERS and all(any(map(str.isdigit, word)) for word in [*mine, *theirs])
    return len(mine) == len(theirs) == 1 and _difference(mine[0], theirs[0]) == pages


def _counts_on(edge: Edge, rows: Sequence[Edge], pages: int) -> bool:
    """Whether a row that is a page number alone fits one that stands anywhere at the edges of another page."""
    if not edge.apart or edge.words.total() > 1:
        return False
    (own,) = edge.words
    return any(_difference(own, word) == pages for row in rows if row.apart for word in row.words)


def _difference(word: str, other: str) -> int | None:
    value, other_value = _value(word), _value(other)
    return None if value is None or other_value is None else other_value - value


def _value(word: str) -> int | None:
    """The number that a word holds; None when it holds none or several."""
    found = _NUMBER.fullmatch(word)
    if found:
        return int(found[2][-9:])
    roman = _ROMAN.fullmatch(word)
    if not roman:
        return None
    values = [_ROMAN_VALUES[letter] for letter in roman[2]]
    return sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))
