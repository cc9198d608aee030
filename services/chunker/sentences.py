"""Where sentences, lines and words begin in a stretch of text, and where a word may be cut if it must."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

# Latin and the like: a mark, closing quotes, a blank, and no small letter after it. CJK and Indic marks need no blank.
_SENTENCE_END = re.compile(
    r"[.!?…‽]+[\"'”’»)\]]*\s+(?=[^\sa-z,;])|[。！？｡；]+[」』”’）】〉》\"')]*\s*(?=\S)|[।॥؟۔։።]+\s+(?=\S)"
)
_LINE_END = re.compile(r"\n+(?=[^\n])")
_BLANK = re.compile(r"\s+(?=\S)")
_MODIFIERS = frozenset(chr(code) for code in range(0x1F3FB, 0x1F400))
_JOINER = "\u200d"
# No cluster of use is longer; a run of marks may be.
_LONGEST_CLUSTER = 32


def sentence_starts(text: str, start: int, end: int) -> list[int]:
    """Positions after `start` at which a sentence begins."""
    return [found.end() for found in _SENTENCE_END.finditer(text, start, end)]


def line_starts(text: str, start: int, end: int) -> list[int]:
    """Positions after `start` at which a line with text begins."""
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
    """The nearest place at or before `position` that is not within a character that readers see as one."""
    cut = position
    for _ in range(_LONGEST_CLUSTER):
        if cut <= lowest + 1 or cut >= len(text) or not _continues(text, cut):
            break
        cut -= 1
    return cut if cut > lowest and not _continues(text, cut) else position


def _continues(text: str, position: int) -> bool:
    if position >= len(text):
        return False
    character, before = text[position], text[position - 1]
    if character < "\u0300":
        return character == "\n" and before == "\r"
    if _JOINER in (character, before) or character in _MODIFIERS:
        return True
    if unicodedata.category(character) in ("Mn", "Me", "Mc"):
        return True
    return _is_flag(character) and _flags_before(text, position) % 2 == 1


def _is_flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flags_before(text: str, position: int) -> int:
    count = 0
    while position > 0 and count < _LONGEST_CLUSTER and _is_flag(text[position - 1]):
        position -= 1
        count += 1
    return count
