"""What is usual in a document: the size and the distance of its lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from services.chunker.pdf.lines import Line

# The share of text in fixed width above which that is the font of the document, and no sign of code.
_MONO_SHARE = 0.6
_LARGER = 1.15


class Measures(NamedTuple):
    """`body` is the size of most text in points, `leading` the distance of lines as a multiple of their size.

    `mono` says that most of the text is of fixed width.
    """

    body: float = 10.0
    leading: float = 1.2
    mono: bool = False

    def is_large(self, line: Line) -> bool:
        """Whether a line is set larger than the text."""
        return line.size >= _LARGER * self.body


def measures(lines: Sequence[Line]) -> Measures:
    """Measure a document."""
    if not lines:
        return Measures()
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    mono = sum(len(line.text) for line in lines if line.style.mono)
    return Measures(sizes.most_common(1)[0][0], _leading(lines), mono > _MONO_SHARE * sizes.total())


def _leading(lines: Sequence[Line]) -> float:
    ratios = [
        (below.y0 - above.y0) / below.size
        for above, below in pairwise(lines)
        if above.region == below.region and above.page == below.page and above.size == below.size
    ]
    usual = [ratio for ratio in ratios if 0.8 < ratio < 3]
    return median(usual) if len(usual) > 4 else 1.25
