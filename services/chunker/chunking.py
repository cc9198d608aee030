"""Cutting a document into chunks: by headings, then blocks, sentences and words, each an exact range of its text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.chunker.blocks import Document, Locator
from services.chunker.division import Division
from services.chunker.overlap import overlap_start
from services.chunker.presets import Preset
from services.chunker.units import Cut, Unit, cut_keys, make_units
from services.encoder.tokens import count_tokens

SOURCE_TOKENS = 200_000
# So many characters for each token allowed, and a text is almost surely too large to be worth cutting up.
_LONG_TOKENS = 12
_INEXACT = 0.2


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
        # Counts of parts don't add up, but nearly do.
        about = len(document.text) if preset.by_characters else sum(unit.size for unit in units)
        if about > (1 - _INEXACT) * limit:
            _refuse_above(limit, document.text)
    return list(_lay(document, units, preset)) if units else []


def _refuse_above(limit: int, text: str) -> None:
    tokens = count_tokens(text)
    if tokens > limit:
        raise SourceRefused(Code.SOURCE_TOO_LARGE, f"the text has {tokens} tokens, the limit is {limit}")


def _lay(document: Document, units: list[Unit], preset: Preset) -> Iterator[Extent]:
    division = Division(units, cut_keys(document.text, units), preset)
    runs = [(0, len(units))]
    while runs:
        first, last = runs.pop()
        extent = _extent(document, units, first, last, preset) if division.fits(first, last) else None
        if extent is not None:
            yield extent
            continue
        middle = division.best_cut(first, last)
        runs.append((middle, last))
        runs.append((first, middle))


def _extent(document: Document, units: list[Unit], first: int, last: int, preset: Preset) -> Extent | None:
    """The extent of a run with as much overlap as fits; None when it is over the budget after all."""
    text = document.text
    new, end = units[first].start, units[last - 1].end
    start = overlap_start(document, units, first, preset) if units[first].cut > Cut.HEADING else new
    for begin in (start, new) if start < new else (new,):
        piece = text[begin:end]
        tokens = count_tokens(piece)
        size = len(piece) if preset.by_characters else tokens
        if size <= preset.budget or (begin == new and last - first == 1):
            return Extent(begin, end, tokens, units[first].block)
    return None
