"""Cutting a document into chunks: by headings, then blocks, sentences and words, each an exact range of its text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.chunker.blocks import Document, Locator
from services.chunker.counting import TokenCount
from services.chunker.division import Division
from services.chunker.overlap import Overlap, find_overlap
from services.chunker.presets import Preset
from services.chunker.units import Unit, make_units
from services.encoder.tokens import count_tokens

SOURCE_TOKENS = 200_000
# So many characters for each token allowed, and a text is almost surely too large to be worth cutting up.
_LONG_TOKENS = 12
_INEXACT = 0.2
_COUNTED_AT_ONCE = 1_000_000


class Chunk(NamedTuple):
    """A piece of a document; `text` is exactly the document's text from `start` to `end`.

    `token_count` is in cl100k tokens, `content_hash` the SHA-256 of the text in hex. `heading_path` and `locator` are
    those of the first block that is not overlap.
    """

    order: int
    text: str
    token_count: int
    heading_path: tuple[str, ...]
    locator: Locator
    start: int
    end: int
    content_hash: str


class Extent(NamedTuple):
    """Where a chunk lies: `start` to `end` in the text, its tokens, and the first block that is new in it."""

    start: int
    end: int
    tokens: int
    block: int


def chunk(document: Document, preset: Preset, limit: int | None = SOURCE_TOKENS) -> list[Chunk]:
    """Cut `document`. Raises SourceRefused(SOURCE_TOO_LARGE) when it has more than `limit` tokens."""
    laid = extents(document, preset, limit)
    blocks = [document.blocks[extent.block] for extent in laid]
    return chunks_of(document.text, laid, [(block.heading_path, block.locator) for block in blocks])


def chunks_of(text: str, laid: Sequence[Extent], places: Sequence[tuple[tuple[str, ...], Locator]]) -> list[Chunk]:
    """Make the chunks that lie in `text` at the extents `laid`; `places` are heading path and locator of each."""
    chunks: list[Chunk] = []
    for order, ((start, end, tokens, _), (path, locator)) in enumerate(zip(laid, places, strict=True)):
        piece = text[start:end]
        digest = hashlib.sha256(piece.encode()).hexdigest()
        chunks.append(Chunk(order, piece, tokens, path, locator, start, end, digest))
    return chunks


def extents(document: Document, preset: Preset, limit: int | None = SOURCE_TOKENS) -> list[Extent]:
    """Return where the chunks of `document` lie, in order. Raises as `chunk` does."""
    if limit is not None and len(document.text) > limit * _LONG_TOKENS:
        _refuse_above(limit, document.text)
    units = make_units(document, preset)
    if limit is not None:
        # Counts of parts nearly add up. A character can have several tokens, a byte of UTF-8 has one at most.
        about = len(document.text.encode()) if preset.by_characters else sum(unit.size for unit in units)
        if about > (1 - _INEXACT) * limit:
            _refuse_above(limit, document.text)
    return list(_Layout(document, units, preset).extents()) if units else []


def _refuse_above(limit: int, text: str) -> None:
    """Raise SourceRefused when the text has more than `limit` tokens; of a huge one no more is counted than needed."""
    tokens = 0
    for start in range(0, len(text), _COUNTED_AT_ONCE):
        tokens += count_tokens(text[start : start + _COUNTED_AT_ONCE])
        if tokens > (1 + _INEXACT) * limit:
            raise SourceRefused(Code.SOURCE_TOO_LARGE, f"the text has far more than {limit} tokens, which is the limit")
    if len(text) > _COUNTED_AT_ONCE:
        tokens = count_tokens(text)
    if tokens > limit:
        raise SourceRefused(Code.SOURCE_TOO_LARGE, f"the text has {tokens} tokens, the limit is {limit}")


class _Layout:
    """Lays the chunks of one document out."""

    def __init__(self, document: Document, units: Sequence[Unit], preset: Preset) -> None:
        self._document = document
        self._units = units
        self._preset = preset
        self._division = Division(document.text, units, preset)
        self._count = TokenCount(document.text, units)

    def extents(self) -> Iterator[Extent]:
        """The extents in order."""
        for run in self._division.runs():
            parts = [run]
            while parts:
                first, last = parts.pop()
                extent = self._extent(first, last)
                if self._fits(extent) or last - first == 1:
                    yield extent
                else:
                    # Sizes are sums, so that a run can be a little over the budget after all.
                    middle = self._division.best_cut(first, last)
                    parts += [(middle, last), (first, middle)]

    def _extent(self, first: int, last: int) -> Extent:
        """The extent of a run, with overlap if it fits."""
        overlap = find_overlap(self._document, self._units, first, self._preset)
        extent = self._beginning_with(overlap, first, last)
        if overlap.start < self._units[first].start and not self._fits(extent):
            extent = self._beginning_with(Overlap(self._units[first].start, first, 0), first, last)
        return extent

    def _beginning_with(self, overlap: Overlap, first: int, last: int) -> Extent:
        start, unit, tail = overlap
        end = self._units[last - 1].end
        if self._preset.by_characters:
            tokens = count_tokens(self._document.text[start:end])
        else:
            tokens = self._count.with_tail(start, tail, unit, last)
        return Extent(start, end, tokens, self._units[first].block)

    def _fits(self, extent: Extent) -> bool:
        size = extent.end - extent.start if self._preset.by_characters else extent.tokens
        return size <= self._preset.budget
