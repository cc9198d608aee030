"""What a chunk repeats of the one before, within one section."""

from __future__ import annotations

from collections.abc import Sequence

from services.chunker.blocks import Document, Kind
from services.chunker.presets import Preset
from services.chunker.sentences import fragments, sentence_starts
from services.chunker.units import Cut, Unit

_PROSE = (Kind.PARAGRAPH, Kind.QUOTE)
_LONGEST_TOKEN = 8


def overlap_start(document: Document, units: Sequence[Unit], first: int, preset: Preset) -> int:
    """Return where a chunk begins whose first new unit is `units[first]`.

    Whole units before it are taken while they fit; of prose that does not fit, the last sentences or words. Never
    across a heading, and no code, table row or list item is begun in its middle.
    """
    start = units[first].start
    room = preset.overlap
    place = first
    while place > 0 and units[place].cut > Cut.HEADING and units[place - 1].size <= room:
        place -= 1
        room -= units[place].size
        start = units[place].start
    if start < units[first].start or not preset.overlap or place == 0 or units[place].cut <= Cut.HEADING:
        return start
    before = units[place - 1]
    if document.blocks[before.block].kind not in _PROSE:
        return start
    return _tail_start(document.text, before, start, preset)


def _tail_start(text: str, before: Unit, end: int, preset: Preset) -> int:
    """Where the last sentences of a unit begin that fit the overlap; failing that, its last words."""
    low = max(before.start, end - preset.overlap * _LONGEST_TOKEN)
    for start in sentence_starts(text, low, before.end):
        if preset.measure(text[start:end]) <= preset.overlap:
            return start
    for start in fragments(text, low, before.end, max(1, preset.overlap)):
        if text[start - 1].isspace() and preset.measure(text[start:end]) <= preset.overlap:
            return start
    return end
