"""Exact counts of tokens of a run of units, out of the counts of its units.

In cl100k no token reaches from a line end to text on the next line, or from a letter or digit to what is neither; and
how a text is cut into tokens depends on nothing before such a place. There counts add up, so that a chunk of whole
lines need not be counted once more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

from services.chunker.units import Unit
from services.encoder.tokens import count_tokens

_BLANK_LINE = re.compile(r"\s*[\r\n]")
_LONGEST_TAIL = 8


def adds_up(text: str, position: int) -> bool:
    """Whether the counts of the text before and after `position` add up to the count of the whole."""
    if position == 0:
        return True
    if text[position - 1] != "\n":
        return False
    return not text[position].isspace() or not _BLANK_LINE.match(text, position)


class TokenCount:
    """Counts runs of `units`, whose sizes are in tokens."""

    def __init__(self, text: str, units: Sequence[Unit]) -> None:
        self._text = text
        self._units = units
        self._sums = list(accumulate((unit.size for unit in units), initial=0))
        self._loose = list(accumulate((not adds_up(text, unit.start) for unit in units), initial=0))

    def between(self, first: int, last: int) -> int:
        """Tokens of the text from the beginning of unit `first` to the end of the unit before `last`."""
        if self._loose[last] > self._loose[first + 1]:
            return count_tokens(self._text[self._units[first].start : self._units[last - 1].end])
        return self._sums[last - 1] - self._sums[first] + self._alone(last - 1)

    def with_tail(self, start: int, tail: int, first: int, last: int) -> int:
        """As `between`, with the text from `start`, which has `tail` tokens and ends where unit `first` begins."""
        if start < self._units[first].start and self._loose[first + 1] > self._loose[first]:
            return count_tokens(self._text[start : self._units[last - 1].end])
        return tail + self.between(first, last)

    def _alone(self, place: int) -> int:
        """Tokens of a unit without the blanks behind it."""
        text, (start, end, size, _, _) = self._text, self._units[place]
        glue = text[end : self._units[place + 1].start] if place + 1 < len(self._units) else ""
        if not glue:
            return size
        # Only what follows the last letter or digit counts differently.
        tail = next((at for at in range(end, max(start, end - _LONGEST_TAIL), -1) if text[at - 1].isalnum()), start)
        if tail > start and glue in ("\n", "\n\n") and text[tail:end].isascii():
            return size - _lost(text[tail:end], glue)
        return count_tokens(text[start:end])


@lru_cache(maxsize=1024)
def _lost(tail: str, glue: str) -> int:
    """By how many tokens a text has fewer without the line ends behind it; `tail` is its end."""
    return count_tokens(tail + glue) - count_tokens(tail)
