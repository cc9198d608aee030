"""Directions of text: each is turned so that its lines run to the right and follow one another downwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import cos, radians, sin
from typing import NamedTuple

from services.chunker.pdf.glyphs import Faces, Run
from services.chunker.pdf.words import Box, is_wide

# Vertical writing runs downwards, its lines from right to left: as text that is turned by this angle.
_DOWNWARDS = 270


class Frame(NamedTuple):
    """A turn by the angle of the baseline."""

    cosine: float
    sine: float

    def point(self, x: float, y: float) -> tuple[float, float]:
        """A point of the page in the frame: along the line, and downwards."""
        return x * self.cosine + y * self.sine, x * self.sine - y * self.cosine

    def box(self, left: float, bottom: float, right: float, top: float) -> Box:
        """A box of the page in the frame: x0, y0, x1, y1."""
        if self.sine == 0 and self.cosine == 1:
            return left, -top, right, -bottom
        corners = [self.point(x, y) for x in (left, right) for y in (bottom, top)]
        along, down = zip(*corners, strict=True)
        return min(along), min(down), max(along), max(down)


def frame(angle: int) -> Frame:
    """The frame of text whose baseline has that angle."""
    return Frame(round(cos(radians(angle)), 9), round(sin(radians(angle)), 9))


def angles(found: Sequence[Run], faces: Faces) -> dict[int, int]:
    """The angle of each text object of the page; vertical writing counts as turned."""
    angle_of = {run.drawn: faces.of(run).angle for run in found}
    stacked, level = _pairs(found)
    if not stacked:
        return angle_of
    page_is_vertical = stacked.total() > level.total()
    for drawn, angle in angle_of.items():
        votes = stacked[drawn] - level[drawn]
        if angle == 0 and (votes > 0 or (votes == 0 and page_is_vertical and not level[drawn])):
            angle_of[drawn] = _DOWNWARDS
    return angle_of


def _pairs(found: Iterable[Run]) -> tuple[Counter[int], Counter[int]]:
    """Count, by text object, characters of wide scripts that stand upon and beside those before them."""
    stacked: Counter[int] = Counter()
    level: Counter[int] = Counter()
    before: Run | None = None
    for run in found:
        if not is_wide(run.text[0]):
            before = None
            continue
        length = len(run.text)
        if length > 1:
            # From the first to the last character there are as many steps as there are others.
            counts = stacked if _below(run.first, run.last, length - 1) else level
            counts[run.drawn] += length - 1
        elif before is not None:
            if _below(before.last, run.first, 1):
                stacked[run.drawn] += 1
            elif abs(before.last[1] - run.first[1]) < 0.4 * (run.first[3] - run.first[1]):
                level[run.drawn] += 1
        before = run
    return stacked, level


def _below(upper: Box, lower: Box, steps: int) -> bool:
    reach = 0.4 * (lower[3] - lower[1])
    fall = (upper[3] - lower[3]) / steps
    return abs(upper[0] - lower[0]) < reach and abs(fall - (lower[3] - lower[1])) < 2 * reach
