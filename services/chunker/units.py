"""The smallest pieces that chunks are put together from, and how good a cut before each of them would be."""

from __future__ import annotations

import re
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
    """The rank of a cut, the better the lower. 1 to 6 are the levels of headings with text before them."""

    HEADING = 6
    BLOCK = 7
    ITEM = 8
    LINE = 9
    SENTENCE = 10
    FRAGMENT = 11
    BETWEEN_HEADINGS = 12
    AFTER_HEADING = 13


class Unit(NamedTuple):
    """Text from `start` to `end`, of `size` with the blanks up to the next unit; `cut` ranks the cut before it."""

    start: int
    end: int
    size: int
    cut: int
    block: int

    @property
    def opens_section(self) -> bool:
        """Whether the unit is the heading of a section, or its beginning."""
        return self.cut <= Cut.HEADING or self.cut == Cut.BETWEEN_HEADINGS


_MARK_LENGTH = 48
# A piece of a sentence that is longer than a chunk is a quarter of one, so that chunks can be filled.
_FRAGMENTS_IN_CHUNK = 4
_SLACK = 2
# Where a text is longer than so many characters for each token of a chunk, its beginning is measured first.
_LONG_TOKENS = 6
_SAMPLE = 400
_ITEM_MARK = re.compile(r"[^\S\n]*(?:[-*+•◦▪–]|\w{1,9}[.)])(?:\s|\Z)")


def make_units(document: Document, preset: Preset) -> list[Unit]:
    """Return the units of `document` in order: blocks, and the parts of those that are larger than a chunk.

    What follows headings is cut where it does not fit into one chunk with them; an item of a list with its further
    paragraphs is one unit where it fits.
    """
    units: list[Unit] = []
    text, blocks = document.text, document.blocks
    headings = index = 0
    while index < len(blocks):
        block, cut = blocks[index], _cut_before(blocks, index)
        room = preset.budget - (headings + _SLACK if headings else 0)
        size, after = _size_of_item(text, blocks, index, room, preset) if block.kind is Kind.LIST else (None, index + 1)
        if size is None:
            following = blocks[after].start if after < len(blocks) else block.end
            size = _size_if_fits(text, block.start, block.end, following, room, preset)
        if size is None:
            units.extend(_parts(text, block, following, index, cut, room, preset))
        else:
            units.append(Unit(block.start, blocks[after - 1].end, size, cut, index))
        headings = _headings_above(headings, size, preset) if size and _is_heading(block) else 0
        index = after
    return units


def _headings_above(headings: int, size: int, preset: Preset) -> int:
    """The size of what stays with the text below: all its headings, or the last; those of half a chunk don't."""
    half = preset.budget // 2
    return next((total for total in (headings + size, size) if total <= half), 0)


def _is_heading(block: Block) -> bool:
    return block.level > 0 or block.kind is Kind.HEADING


def _size_of_item(text: str, blocks: Sequence[Block], index: int, room: int, preset: Preset) -> tuple[int | None, int]:
    """The size of a list item of several paragraphs and the block after it; no size if it does not fit or has one."""
    after = index + 1
    if not _continues_item(blocks[index]):
        while after < len(blocks) and _continues_item(blocks[after]):
            after += 1
    if after > index + 1:
        end = blocks[after - 1].end
        following = blocks[after].start if after < len(blocks) else end
        size = _size_if_fits(text, blocks[index].start, end, following, room, preset)
        if size is not None:
            return size, after
    return None, index + 1


def _continues_item(block: Block) -> bool:
    return block.kind is Kind.LIST and block.text[0].isspace() and not _ITEM_MARK.match(block.text)


def _size_if_fits(text: str, start: int, end: int, following: int, room: int, preset: Preset) -> int | None:
    """The size of a text with the blanks up to `following`; None when the text alone is larger than `room`."""
    surely = room * _LONG_TOKENS
    if end - start > surely and preset.measure(text[start : start + surely]) > room + _SLACK:
        return None
    size = preset.measure(text[start:following])
    # The blanks can join the last token, so that the text alone may even count for more.
    if size <= room - _SLACK:
        return size
    fits = size <= room + _SLACK + following - end and preset.measure(text[start:end]) <= room
    return size if fits else None


def _cut_before(blocks: Sequence[Block], index: int) -> int:
    block = blocks[index]
    if index == 0:
        return block.level or Cut.BLOCK
    before = blocks[index - 1]
    if _is_heading(before):
        return Cut.BETWEEN_HEADINGS if _is_heading(block) else Cut.AFTER_HEADING
    if block.level:
        return block.level
    same = before.kind is block.kind and block.kind in (Kind.LIST, Kind.TABLE)
    return Cut.ITEM if same else Cut.BLOCK


def _parts(text: str, block: Block, following: int, index: int, cut: int, room: int, preset: Preset) -> Iterator[Unit]:
    """Cut a block that is larger than `room`, in which its first part has to fit: code and tables by lines, prose by
    sentences."""
    by_lines = block.kind in (Kind.CODE, Kind.TABLE)
    starts = (line_starts if by_lines else sentence_starts)(text, block.start, block.end)
    if starts and text[block.start : starts[0]].isspace():
        del starts[0]
    rank = Cut.LINE if by_lines else Cut.SENTENCE
    for start, end in _pairs(block.start, starts, following):
        here = cut if start == block.start else rank
        trimmed = start + len(text[start:end].rstrip())
        size = _size_if_fits(text, start, trimmed, end, room, preset)
        if size is None:
            yield from _fragments(text, start, end, here, index, room, preset)
        elif trimmed > start:
            yield Unit(start, trimmed, size, here, index)
        room = preset.budget


def _fragments(text: str, start: int, end: int, cut: int, index: int, room: int, preset: Preset) -> Iterator[Unit]:
    """Cut a sentence or line that is larger than `room`: at line ends, then at blanks, then anywhere."""
    trimmed = start + len(text[start:end].rstrip())
    for line_start, line_end in _pairs(start, line_starts(text, start, trimmed), end):
        for piece_start, piece_end, size in _bounded(text, line_start, line_end, room, preset):
            rank = cut if piece_start == start else Cut.LINE if piece_start == line_start else Cut.FRAGMENT
            piece = text[piece_start:piece_end].rstrip()
            if piece:
                yield Unit(piece_start, piece_start + len(piece), size, rank, index)


def _bounded(text: str, start: int, end: int, room: int, preset: Preset) -> Iterator[tuple[int, int, int]]:
    """Cut a line until each piece is small enough: start, end, size with the blanks before the next piece."""
    trimmed = start + len(text[start:end].rstrip())
    length = _fragment_length(text[start : min(trimmed, start + _SAMPLE)], preset)
    stretches = [(start, trimmed)]
    while stretches:
        first, last = stretches.pop()
        following = end if last == trimmed else last
        size = _size_if_fits(text, first, last, following, room, preset)
        if size is None and last - first > 1:
            inner = list(fragments(text, first, last, min(length, (last - first + 1) // 2)))
            stretches.extend(reversed(list(_pairs(first, inner, last))))
        else:
            yield first, last, size or preset.measure(text[first:following])


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
    Both ends of the unit count, as the parts of a table begin alike.
    """
    keys = [cut << 32 | zlib.crc32(_mark(text, start, end).encode()) for start, end, _, cut, _ in units]
    return np.array(keys, np.int64)


def _mark(text: str, start: int, end: int) -> str:
    if end - start <= 2 * _MARK_LENGTH:
        return text[start:end]
    return text[start : start + _MARK_LENGTH] + text[end - _MARK_LENGTH : end]
