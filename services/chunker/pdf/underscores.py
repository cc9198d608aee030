"""Underscores that are drawn as short rules, as TeX does it: `asn1 _ node` is one name."""

from __future__ import annotations

from collections.abc import Sequence

from services.chunker.pdf.rules import Rule
from services.chunker.pdf.words import Segment, Word

# In points: how far the ends of the rule may be from the words at its sides.
_NEAR = 1.5


def join_underscored(segments: Sequence[Segment], dashes: Sequence[Rule]) -> None:
    """Make one word of words with a dash between them at their foot."""
    if not dashes:
        return
    by_height: dict[int, list[Rule]] = {}
    for dash in dashes:
        by_height.setdefault(round(dash.at), []).append(dash)
    for item in segments:
        words = item.words[:1]
        for word in item.words[1:]:
            if _is_underscored(words[-1], word, by_height):
                words[-1].text += "_" + word.text
                words[-1].x1 = word.x1
            else:
                words.append(word)
        item.words = words


def _is_underscored(before: Word, word: Word, by_height: dict[int, list[Rule]]) -> bool:
    gap = word.x0 - before.x1
    if not 1 < gap < before.style.size:
        return False
    middle, foot = round((before.y0 + before.y1) / 2), round(before.y1) + 2
    return any(
        abs(dash.start - before.x1) < _NEAR and abs(dash.end - word.x0) < _NEAR
        for height in range(middle, foot)
        for dash in by_height.get(height, ())
    )
