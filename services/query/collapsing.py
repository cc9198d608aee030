"""Brings near-identical texts of one answer together: a page that was added twice takes one place, not two."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import islice
from math import ceil
from typing import Generic, NamedTuple, TypeVar

Item = TypeVar("Item")

SIMILARITY = 0.9
_GRAM = 5

# Of scripts that put no spaces between words, each character stands for itself: Thai to Myanmar, Khmer, Japanese and
# Chinese.
_UNSPACED = "\u0e00-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")


class Group(NamedTuple, Generic[Item]):
    """An item, and those that came after it and say the same."""

    best: Item
    others: list[Item]


class _Shape(NamedTuple):
    text: str
    grams: frozenset[int]
    some: list[int]
    """So many of the grams that one of them is in every text that is alike."""


def collapse(items: Iterable[Item], text_of: Callable[[Item], str], k: int) -> list[Group[Item]]:
    """The first k items that differ from all before them, in order. No item behind the one that fills k is looked at.

    Alike are texts that are the same but for case and white space, or that share nine tenths of their runs of five
    words.
    """
    groups: list[tuple[_Shape, Group[Item]]] = []
    for item in items:
        if len(groups) == k:
            break
        shape = _shape(text_of(item))
        twin = next((group for other, group in groups if _alike(shape, other)), None)
        if twin is None:
            groups.append((shape, Group(item, [])))
        else:
            twin.others.append(item)
    return [group for _, group in groups]


def _shape(text: str) -> _Shape:
    normalized = " ".join(text.casefold().split())
    words = _WORD.findall(normalized)
    # Hashes, since a tuple computes its own anew whenever it is looked up.
    grams = frozenset(map(hash, zip(*(words[start:] for start in range(_GRAM)), strict=False)))
    can_be_missing = len(grams) - ceil(SIMILARITY * len(grams))
    return _Shape(normalized, grams, list(islice(grams, can_be_missing + 1)))


def _alike(one: _Shape, other: _Shape) -> bool:
    if one.text == other.text:
        return True
    fewer, more = sorted((len(one.grams), len(other.grams)))
    if fewer < SIMILARITY * more or other.grams.isdisjoint(one.some):
        return False
    shared = len(one.grams & other.grams)
    return shared >= SIMILARITY * (fewer + more - shared)
