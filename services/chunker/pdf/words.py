"""Words with their places, and segments: words that follow one another on a line without a wide gap."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

Box = tuple[float, float, float, float]


class Style(NamedTuple):
    """How words are set: size in points, and whether the font is bold or of fixed width."""

    size: float
    bold: bool = False
    mono: bool = False


@dataclass(slots=True)
class Word:
    """A word; its box is in points, down and to the right along the lines of the text. `spaced`: a blank precedes."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    style: Style
    spaced: bool = True


@dataclass(slots=True)
class Segment:
    """Words side by side. `place` is their position in the order in which the file draws.

    `length` is their width in characters; those of wide scripts count twice.
    """

    words: list[Word]
    x0: float
    y0: float
    x1: float
    y1: float
    place: int
    length: int

    @property
    def text(self) -> str:
        """The words as text."""
        return joined(self.words)

    @property
    def size(self) -> float:
        """The size of the first word, in points."""
        return self.words[0].style.size


def segment(words: list[Word], place: int) -> Segment:
    """Make a segment of `words`."""
    return Segment(
        words,
        min(word.x0 for word in words),
        min(word.y0 for word in words),
        max(word.x1 for word in words),
        max(word.y1 for word in words),
        place,
        sum(len(word.text) + int(word.spaced) + sum(map(is_wide, word.text)) for word in words),
    )


def joined(words: Sequence[Word]) -> str:
    """The text of words that follow one another."""
    return "".join(f" {word.text}" if word.spaced else word.text for word in words).strip()


def is_wide(character: str) -> bool:
    """Whether `character` is of a script that puts no blanks between words (Chinese, Japanese)."""
    return character > "\u2e7f" and not "\uac00" <= character <= "\ud7a3" and not "\ufb00" <= character <= "\ufdff"


def is_rtl(character: str) -> bool:
    """Whether `character` is written from right to left."""
    return character > "\u058f" and unicodedata.bidirectional(character) in ("R", "AL")
