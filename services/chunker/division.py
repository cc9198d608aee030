"""Dividing a run of units into chunks, from the whole document down.

A run that is too large is cut in two at its best cut, and so on. As the best cut is one of highest rank, sections stay
together with what is under them; as a hash decides among equals, an edit moves no cut but those beside it. A cut near
an end of a run would leave a scrap, so those a half of a chunk away from both ends are asked first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from services.chunker.presets import Preset
from services.chunker.units import Cut, Unit


class Division:
    """Finds the cuts of one document. `keys` rank the cut before each unit, see `cut_keys`."""

    def __init__(self, units: Sequence[Unit], keys: NDArray[np.int64], preset: Preset) -> None:
        self._units = units
        self._keys = keys
        self._preset = preset
        self._sums = np.concatenate([np.zeros(1, np.int64), np.cumsum([unit.size for unit in units], dtype=np.int64)])

    def fits(self, first: int, last: int) -> bool:
        """Whether the units from `first` to before `last` make a chunk, by the sum of their sizes."""
        if last - first == 1:
            return True
        room = self._preset.budget - (self._preset.overlap if self._units[first].cut > Cut.HEADING else 0)
        return int(self._sums[last] - self._sums[first]) <= room

    def best_cut(self, first: int, last: int) -> int:
        """Where to cut a run of two units or more."""
        budget = self._preset.budget
        choices = [self._best_away(first, last, budget // share) for share in (2, 4)]
        found = [place for place in choices if place is not None]
        if found:
            place = min(found, key=lambda at: _CLASS[self._units[at].cut])
            if self._units[place].cut < Cut.AFTER_HEADING:
                return place
        return first + 1 + int(np.argmin(self._keys[first + 1 : last]))

    def _best_away(self, first: int, last: int, margin: int) -> int | None:
        """The best cut that leaves `margin` at least on both sides; None if there is none."""
        low = int(np.searchsorted(self._sums, self._sums[first] + margin, "left"))
        high = int(np.searchsorted(self._sums, self._sums[last] - margin, "right"))
        low, high = max(low, first + 1), min(high, last)
        if low >= high:
            return None
        return low + int(np.argmin(self._keys[low:high]))


# Ranks that are alike when a better rank has to be weighed against a more even cut.
_CLASS = {
    **dict.fromkeys(range(1, Cut.HEADING + 1), 0),
    Cut.BLOCK: 1,
    Cut.ITEM: 1,
    Cut.LINE: 2,
    Cut.SENTENCE: 2,
    Cut.FRAGMENT: 3,
    Cut.AFTER_HEADING: 4,
}
