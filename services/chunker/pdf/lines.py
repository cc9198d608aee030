"""Lines: the rows of a region as text, with what is needed to tell paragraphs, headings and code apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from services.chunker.pdf.alignment import with_tables
from services.chunker.pdf.columns import Item, regions
from services.chunker.pdf.grids import Table
from services.chunker.pdf.rows import line_rows, row_text
from services.chunker.pdf.rules import Rule
from services.chunker.pdf.words import Segment, Style, Word

# In sizes of the font: so wide a gap within a line is none between words of one sentence.
_LOOSE = 3.0
_MOST_BLANKS = 100


@dataclass(slots=True)
class Line:
    """A line of text; `left` and `right` are the bounds of its region, in points like its box. `page` is from 0.

    `loose` lines are of pieces far apart, as in forms; those `aside` stand outside of the text that flows.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    style: Style
    page: int
    region: int
    left: float
    right: float
    loose: bool = False
    aside: bool = False

    @property
    def size(self) -> float:
        """The size of most of its characters, in points."""
        return self.style.size


@dataclass(slots=True)
class PlacedTable:
    """The rows of a table and its page, from 0."""

    rows: list[list[str]]
    page: int


def lines(items: list[Item], across: Sequence[Rule], page: int, first_region: int) -> Iterator[Line | PlacedTable]:
    """Yield the lines and tables of a page in reading order; regions are counted from `first_region`."""
    if not items:
        return
    for number, region in enumerate(regions(items, across), first_region):
        left, right = min(item.x0 for item in region), max(item.x1 for item in region)
        for row in with_tables(line_rows(region)):
            if isinstance(row, Table):
                yield PlacedTable(row.rows, page)
            else:
                yield _line(row, page, number, left, right)


def _line(row: list[Segment], page: int, region: int, left: float, right: float) -> Line:
    words = [word for item in row for word in item.words]
    style = _style(words)
    text = _spread(words, style) if style.mono else row_text([item.text for item in row])
    y0, y1 = min(item.y0 for item in row), max(item.y1 for item in row)
    right_end = max(item.x1 for item in row)
    loose = len(row) > 1 and _is_loose(words, style.size)
    return Line(text, row[0].x0, y0, right_end, y1, style, page, region, left, right, loose)


def _is_loose(words: Sequence[Word], size: float) -> bool:
    """Whether one gap is far wider than the others: those of a justified line are all as wide."""
    gaps = sorted(word.x0 - before.x1 for before, word in pairwise(words))
    usual = gaps[(len(gaps) - 1) // 2] if len(gaps) > 1 else 0.0
    return gaps[-1] > max(_LOOSE * size, 3 * usual)


def _style(words: Sequence[Word]) -> Style:
    """The style of most characters; bold and of fixed width only where all but a few are."""
    counts: Counter[Style] = Counter()
    for word in words:
        counts[word.style] += len(word.text)
    most = 0.9 * counts.total()
    return Style(
        _by_size(counts).most_common(1)[0][0],
        sum(count for style, count in counts.items() if style.bold) >= most,
        sum(count for style, count in counts.items() if style.mono) >= most,
    )


def _by_size(counts: Counter[Style]) -> Counter[float]:
    sizes: Counter[float] = Counter()
    for style, count in counts.items():
        sizes[style.size] += count
    return sizes


def _spread(words: Sequence[Word], style: Style) -> str:
    """The words with as many blanks between them as they stand apart."""
    length = sum(len(word.text) for word in words)
    width = sum(word.x1 - word.x0 for word in words) / length or style.size
    pieces = [words[0].text]
    for last, word in pairwise(words):
        blanks = min(round((word.x0 - last.x1) / width), _MOST_BLANKS)
        pieces.append(" " * max(blanks, int(word.spaced)) + word.text)
    return "".join(pieces)
