"""The smallest pieces that chunks are put together from, and how good a cut before each of them would be."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from services.chunker.blocks import Block, Document, Kind
from services.chunker.presets import Preset
from services.chunker.sentences import fragments, line_starts, sentence_starts


class Cut(IntEnum):
    """The rank of a cut, the better the lower. 1 to 6 are the levels of headings."""

    HEADING = 6
    BLOCK = 7
    ITEM = 8
    LINE = 9
    SENTENCE = 10
    FRAGMENT = 11
    AFTER_HEADING = 12


class Unit(NamedTuple):
    """Text from `start` to `end`, of `size` with the blanks up to the next unit; `cut` ranks the cut before it."""

    start: int
    end: int
    size: int
    cut: int
    block: int


_MARK_LENGTH = 48
# A piece of a sentence that is longer than a chunk is a quarter of one, so that chunks can be filled.
_FRAGMENTS_IN_CHUNK = 4
_SLACK = 2
# Where a text is longer than so many characters for each token of a chunk, its beginning is measured first.
_LONG_TOKENS = 12
_SAMPLE = 400


def make_units(document: Document, preset: Preset) -> list[Unit]:
    """Return the units of `document` in order: blocks, and the parts of those that are larger than a chunk."""
    units: list[Unit] = []
    text, blocks = document.text, document.blocks
    for index, block in enumerate(blocks):
        following = blocks[index + 1].start if index + 1 < len(blocks) else block.end
        cut = _cut_before(blocks, index)
        size = _size_if_fits(text, block.start, block.end, following, preset)
        if size is None:
            units.extend(_parts(text, block, index, cut, preset))
        else:
            units.append(Unit(block.start, block.end, size, cut, index))
    return units


def _size_if_fits(text: str, start: int, end: int, following: int, preset: Preset) -> int | None:
    """The size of a text with the blanks up to `following`; None when the text alone is larger than a chunk."""
    surely = preset.budget * _LONG_TOKENS
    if end - start > surely and preset.measure(text[start : start + surely]) > preset.budget + _SLACK:
        return None
    size = preset.measure(text[start:following])
    # The blanks can join the last token, so that the text alone may even count for more.
    if size <= preset.budget - _SLACK:
        return size
    return size if size <= preset.budget + _SLACK and preset.measure(text[start:end]) <= preset.budget else None


def _cut_before(blocks: Sequence[Block], index: int) -> int:
    block = blocks[index]
    if block.level:
        return block.level
    if index == 0:
        return Cut.BLOCK
    before = blocks[index - 1]
    if before.level or before.kind is Kind.HEADING:
        return Cut.AFTER_HEADING
    same = before.kind is block.kind and block.kind in (Kind.LIST, Kind.TABLE)
    return Cut.ITEM if same else Cut.BLOCK


def _parts(text: str, block: Block, index: int, cut: int, preset: Preset) -> list[Unit]:
    """Cut a block that is larger than a chunk: code and tables by lines, prose by sentences."""
    by_lines = block.kind in (Kind.CODE, Kind.TABLE)
    starts = (line_starts if by_lines else sentence_starts)(text, block.start, block.end)
    rank = Cut.LINE if by_lines else Cut.SENTENCE
    parts: list[Unit] = []
    for start, end in _pairs(block.start, starts, block.end):
        here = rank if parts else cut
        trimmed = start + len(text[start:end].rstrip())
        size = _size_if_fits(text, start, trimmed, end, preset)
        if size is None:
            parts.extend(_fragments(text, start, end, here, index, preset))
        elif trimmed > start:
            parts.append(Unit(start, trimmed, size, here, index))
    return parts


def _fragments(text: str, start: int, end: int, cut: int, index: int, preset: Preset) -> list[Unit]:
    """Cut a sentence or line that is larger than a chunk: at line ends, then at blanks, then anywhere."""
    parts: list[Unit] = []
    for line_start, line_end in _pairs(start, line_starts(text, start, end), end):
        for piece_start, piece_end, size in _bounded(text, line_start, line_end, preset):
            trimmed = piece_start + len(text[piece_start:piece_end].rstrip())
            rank = Cut.LINE if piece_start == line_start else Cut.FRAGMENT
            if trimmed > piece_start:
                parts.append(Unit(piece_start, trimmed, size, rank if parts else cut, index))
    return parts


def _bounded(text: str, start: int, end: int, preset: Preset) -> Iterator[tuple[int, int, int]]:
    """Cut a stretch without line ends until each piece is small enough: start, end, size."""
    measure = preset.measure
    length = _fragment_length(text[start : start + _SAMPLE], preset)
    stretches = [(start, end)]
    while stretches:
        first, last = stretches.pop()
        size = measure(text[first:last])
        if size <= preset.budget - _SLACK or last - first < 2:
            yield first, last, size
        else:
            inner = list(fragments(text, first, last, min(length, (last - first + 1) // 2)))
            stretches.extend(reversed(list(_pairs(first, inner, last))))


def _fragment_length(sample: str, preset: Preset) -> int:
    """Characters of a fragment of the wanted size, judged by a sample."""
    wanted = preset.budget // _FRAGMENTS_IN_CHUNK
    return max(1, wanted * len(sample) // max(1, preset.measure(sample)))


def _pairs(start: int, inner: Iterable[int], end: int) -> Iterator[tuple[int, int]]:
    """The stretches between neighbouring positions."""
    for position in inner:
        yield start, position
        start = position
    yield start, end


def cut_keys(text: str, units: Sequence[Unit]) -> NDArray[np.int64]:
    """A key for the cut before each unit, the better the lower, shape (units,): its rank, then a hash of what follows.

    Among cuts of one rank the hash decides: an edit elsewhere leaves it alone, so that most cuts stay where they are.
    """
    keys = np.empty(len(units), np.int64)
    for place, unit in enumerate(units):
        mark = text[unit.start : min(unit.end, unit.start + _MARK_LENGTH)]
        keys[place] = unit.cut << 32 | zlib.crc32(mark.encode())
    return keys
