"""Dividing units into chunks, from the whole document down.

A run that is too large is cut in two at its best cut, and so on. As the best cut is one of highest rank, sections stay
together with what is under them; as a hash decides among equals, an edit moves no cut but those beside it. A cut near
an end of a run would leave a scrap, so those some way from both ends are asked first. Neighbours that turned out small
are then put together, those with the worst cut between them first.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from services.chunker.presets import Preset
from services.chunker.units import Cut, Unit, cut_keys

# Shares of a chunk that a cut keeps from the ends of a run where it can: one within a section, one between sections.
_AWAY = 4
_SECTION_AWAY = 8
# Across a heading scraps of such a share are put together, and what makes no more than half a chunk.
_SCRAP = 8


class Division:
    """The runs of units that make the chunks of one document."""

    def __init__(self, text: str, units: Sequence[Unit], preset: Preset) -> None:
        self._text = text
        self._units = units
        self._preset = preset
        self._sums = list(accumulate((unit.size for unit in units), initial=0))

    def runs(self) -> list[tuple[int, int]]:
        """The runs in order, each from its first unit to before its last. By the sum of sizes each fits in a chunk."""
        return self._joined(list(self.divided(0, len(self._units))))

    def divided(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Cut a run until each part fits in a chunk."""
        runs = [(first, last)]
        while runs:
            first, last = runs.pop()
            if self._fits(first, last):
                yield first, last
            else:
                middle = self.best_cut(first, last)
                runs += [(middle, last), (first, middle)]

    def best_cut(self, first: int, last: int) -> int:
        """Where to cut a run of two units or more."""
        budget = self._preset.budget
        place = self._best_away(first, last, budget // _AWAY)
        if place is None or self._units[place].cut > Cut.HEADING:
            between = self._best_away(first, last, budget // _SECTION_AWAY)
            if between is not None and self._units[between].cut <= Cut.HEADING:
                return between
        if place is None or self._units[place].cut >= Cut.BETWEEN_HEADINGS:
            anywhere = self._best(first + 1, last)
            if place is None or self._units[anywhere].cut < self._units[place].cut:
                return anywhere
        return place

    @cached_property
    def _keys(self) -> NDArray[np.int64]:
        return cut_keys(self._text, self._units)

    def _fits(self, first: int, last: int) -> bool:
        if last - first == 1:
            return True
        # What continues a section leaves room for overlap, unless a heading begins it: better keep that to its text.
        room = self._preset.budget
        if not self._units[first].opens_section and self._units[first + 1].cut < Cut.BETWEEN_HEADINGS:
            room -= self._preset.overlap
        return self._size(first, last) <= room

    def _size(self, first: int, last: int) -> int:
        return self._sums[last] - self._sums[first]

    def _best(self, low: int, high: int) -> int:
        return low + int(self._keys[low:high].argmin())

    def _best_away(self, first: int, last: int, margin: int) -> int | None:
        """The best cut that leaves `margin` at least on both sides; None if there is none."""
        sums = self._sums
        low = max(bisect_left(sums, sums[first] + margin, first, last), first + 1)
        high = bisect_right(sums, sums[last] - margin, first, last)
        return self._best(low, high) if low < high else None

    def _joined(self, runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Put neighbours together."""
        if len(runs) == 1:
            return runs
        ends, firsts = dict(runs), {last: first for first, last in runs}
        cuts = np.array([first for first, _ in runs[1:]], np.int64)
        for cut in cuts[np.argsort(-self._keys[cuts], kind="stable")].tolist():
            first, last = firsts[cut], ends[cut]
            if self._fits(first, last) and self._joinable(first, cut, last):
                ends[first], firsts[last] = last, first
                del ends[cut], firsts[cut]
        return list(ends.items())

    def _joinable(self, first: int, cut: int, last: int) -> bool:
        """Whether text on both sides of a cut may share a chunk although there was a reason for the cut."""
        if not self._units[cut].opens_section:
            return True
        budget, scrap = self._preset.budget, self._preset.budget // _SCRAP
        sides = self._size(first, cut), self._size(cut, last)
        return min(sides) < scrap or sum(sides) <= budget // 2
