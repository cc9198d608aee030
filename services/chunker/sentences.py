"""Where sentences, lines and words begin in a stretch of text, and where a word may be cut if it must."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

# Latin and the like: a mark, closing quotes, a blank, and no small letter after it. CJK and Indic marks need no blank.
# Each run is entered at its beginning and never given back, so that long runs of dots or blanks take linear time.
_SENTENCE_END = re.compile(
    r"(?<![.!?…‽])[.!?…‽]++[\"'”’»)\]]*+\s++(?=[^a-z,;])"
    r"|(?<![。！？｡；])[。！？｡；]++[」』”’）】〉》\"')]*+\s*+(?=\S)"
    r"|(?<![।॥؟۔։።])[।॥؟۔։።]++\s++(?=\S)"
)
_LINE_END = re.compile(r"\n(?:[^\S\n]*+\n)*+(?=[^\n])")
_BLANK = re.compile(r"(?<!\s)\s++(?=\S)")
# What belongs to the character before though it is no mark: skin tones, tags, vowels and end consonants of Hangul,
# Thai and Lao AM, voicing of narrow kana, the non-joiner.
_CONTINUING = re.compile(
    "[\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\u1160-\u11ff\ud7b0-\ud7fb\u0e33\u0eb3\uff9e\uff9f\u200c]"
)
_JOINER = "\u200d"
# No cluster of use is longer; a run of marks may be.
_LONGEST_CLUSTER = 32


def sentence_starts(text: str, start: int, end: int) -> list[int]:
    """Positions after `start` at which a sentence begins."""
    found = [match.end() for match in _SENTENCE_END.finditer(text, start, end)]
    return found if text.isascii() else [place for place in found if not _continues(text, place, start)]


def line_starts(text: str, start: int, end: int) -> list[int]:
    """Positions after `start` at which a line with text begins. The stretch has no blanks at its end."""
    return [found.end() for found in _LINE_END.finditer(text, start, end)]


def fragments(text: str, start: int, end: int, length: int) -> Iterator[int]:
    """Positions after `start` that cut the stretch into pieces of at most `length` characters, at blanks if any."""
    while end - start > length:
        cut = start + length
        for found in _BLANK.finditer(text, start + length // 2, cut + 1):
            cut = found.end()
        cut = cluster_start(text, min(cut, start + length), start)
        yield cut
        start = cut


def cluster_start(text: str, position: int, lowest: int) -> int:
    """The nearest place at or before `position` that is not within a character that readers see as one.

    `lowest` is a place before it that is known not to be.
    """
    cut = position
    for _ in range(_LONGEST_CLUSTER):
        if cut <= lowest + 1 or not _continues(text, cut, lowest):
            break
        cut -= 1
    return cut if cut > lowest and not _continues(text, cut, lowest) else position


def _continues(text: str, position: int, lowest: int) -> bool:
    if position >= len(text):
        return False
    character, before = text[position], text[position - 1]
    if character < "\u0300":
        return character == "\n" and before == "\r"
    if _JOINER in (character, before) or _CONTINUING.match(character):
        return True
    if unicodedata.category(character) in ("Mn", "Me", "Mc"):
        return True
    return _is_flag(character) and _flags_before(text, position, lowest) % 2 == 1


def _is_flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flags_before(text: str, position: int, lowest: int) -> int:
    """How many halves of flags stand before a position."""
    first = position
    while first > lowest and _is_flag(text[first - 1]):
        first -= 1
    return position - first
