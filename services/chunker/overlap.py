"""What a chunk repeats of the one before, within one section."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from services.chunker.blocks import Document, Kind
from services.chunker.presets import Preset
from services.chunker.sentences import fragments, sentence_starts
from services.chunker.units import Unit

_PROSE = (Kind.PARAGRAPH, Kind.QUOTE)
# Overlap is looked for in so many characters for each of its tokens.
_LONG_TOKEN = 6


class Overlap(NamedTuple):
    """Where a chunk begins, the first unit that is whole in it, and the size of what stands before that unit."""

    start: int
    unit: int
    tail: int


def find_overlap(document: Document, units: Sequence[Unit], first: int, preset: Preset) -> Overlap:
    """Return where a chunk begins whose first new unit is `units[first]`.

    Whole units before it are taken while they fit; of prose that does not fit, the last sentences or words. Never
    across a heading, and no code, table row or list item is begun in its middle.
    """
    room, place = preset.overlap, first
    while place > 0 and not units[place].opens_section and units[place - 1].size <= room:
        place -= 1
        room -= units[place].size
    start = units[place].start
    if place < first or not preset.overlap or place == 0 or units[place].opens_section:
        return Overlap(start, place, 0)
    before = units[place - 1]
    if document.blocks[before.block].kind not in _PROSE:
        return Overlap(start, place, 0)
    return _tail(document.text, before, place, start, preset)


def _tail(text: str, before: Unit, place: int, end: int, preset: Preset) -> Overlap:
    """The last sentences of a unit that fit the overlap; failing that, its last words."""
    low = max(before.start, end - preset.overlap * _LONG_TOKEN)
    for start in chain(sentence_starts(text, low, before.end), _words(text, low, before.end, preset.overlap)):
        size = preset.measure(text[start:end])
        if size <= preset.overlap:
            return Overlap(start, place, size)
    return Overlap(end, place, 0)


def _words(text: str, start: int, end: int, length: int) -> Iterator[int]:
    return (place for place in fragments(text, start, end, length) if text[place - 1].isspace())
