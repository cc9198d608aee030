"""Rows: what stands on one height, from left to right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol, TypeVar

from services.chunker.pdf.words import Word, is_rtl, is_wide

_TALL = 1.8
_HYPHENATED = re.compile(r"[^\W\d_]{2}-$")


class Placed(Protocol):
    """What has a box."""

    x0: float
    y0: float
    x1: float
    y1: float


Item = TypeVar("Item", bound=Placed)


def line_rows(items: Sequence[Item]) -> list[list[Item]]:
    """Group `items` by height, from top to bottom; those of a row from left to right."""
    rows: list[list[Item]] = []
    bounds: list[tuple[float, float]] = []
    for item in sorted(items, key=lambda one: (one.y0 + one.y1, one.x0)):
        # An item belongs to the row that its middle meets. Braces and initials as high as two rows are rows of theirs.
        if rows and _meets(item, bounds[-1]):
            rows[-1].append(item)
            if item.y1 - item.y0 > bounds[-1][1] - bounds[-1][0]:
                bounds[-1] = (item.y0, item.y1)
        else:
            rows.append([item])
            bounds.append((item.y0, item.y1))
    for row in rows:
        row.sort(key=lambda one: one.x0)
    return rows


def _meets(item: Placed, bounds: tuple[float, float]) -> bool:
    top, bottom = bounds
    height = item.y1 - item.y0
    return top < (item.y0 + item.y1) / 2 < bottom and height < _TALL * (bottom - top) and bottom - top < 3 * height


def glue(before: str, after: str) -> str:
    """What goes between two texts: a blank, or nothing between letters of scripts that have no blanks."""
    return "" if not before or not after or (is_wide(before[-1]) and is_wide(after[0])) else " "


def glued(texts: Sequence[str]) -> str:
    """Join what follows one another."""
    kept = [text for text in texts if text]
    return "".join([*(text + glue(text, after) for text, after in pairwise(kept)), *kept[-1:]])


def row_text(texts: Sequence[str]) -> str:
    """The texts of one row in reading order; from right to left where most of it is written so."""
    if all(text.isascii() for text in texts):
        return glued(texts)
    rtl = sum(is_rtl(letter) for text in texts for letter in text)
    letters = sum(letter.isalpha() for text in texts for letter in text)
    return glued(texts[::-1] if rtl * 2 > letters else texts)


def words_text(words: Sequence[Word]) -> str:
    """The words of one row as text."""
    if not words:
        return ""
    pieces = [[words[0].text]]
    for last, word in pairwise(words):
        if word.spaced or word.x0 - last.x1 > 0.25 * word.style.size or word.x0 < last.x0:
            pieces.append([])
        pieces[-1].append(word.text)
    return row_text(["".join(piece) for piece in pieces])


def cell_text(words: Sequence[Word]) -> str:
    """The words of a cell, its lines joined."""
    text = ""
    for line in line_rows(words):
        added = words_text(line)
        if _HYPHENATED.search(text) and added[:1].islower():
            text = text[:-1] + added
        else:
            text = glued([text, added]) if text else added
    return text
