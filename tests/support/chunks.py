"""What holds for the chunks of any document."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

from services.chunker.blocks import Block, Document, Kind
from services.chunker.chunking import Chunk, chunk
from services.chunker.presets import Preset
from services.encoder.tokens import count_tokens

_SEAMS = 4  # what counts of headings and of text may differ from the count of both
KEPT_WHOLE = (Kind.CODE, Kind.TABLE, Kind.LIST)


def assert_sound(document: Document, preset: Preset) -> list[Chunk]:
    """Assert all of it, and return the chunks."""
    chunks = chunk(document, preset, None)
    assert chunk(document, preset, None) == chunks
    assert_exact(document, chunks, preset)
    assert_overlap_within_sections(document, chunks, preset)
    assert_no_heading_at_an_end(document, chunks, preset)
    assert_whole_where_it_fits(document, chunks, preset)
    return chunks


def assert_exact(document: Document, chunks: Sequence[Chunk], preset: Preset) -> None:
    """Ranges, counts and hashes are exact, nothing is over the budget, and nothing but blanks is left out."""
    text, covered = document.text, 0
    for order, piece in enumerate(chunks):
        assert piece.order == order
        assert piece.text == text[piece.start : piece.end]
        assert piece.text.strip()
        assert piece.token_count == count_tokens(piece.text)
        assert preset.measure(piece.text) <= preset.budget
        assert piece.content_hash == hashlib.sha256(piece.text.encode()).hexdigest()
        assert not text[covered : piece.start].strip()
        assert piece.end > covered
        covered = piece.end
    assert not text[covered:].strip()


def assert_overlap_within_sections(document: Document, chunks: Sequence[Chunk], preset: Preset) -> None:
    """What a chunk repeats is short, and no section begins between it and what is new."""
    sections = [block.start for block in document.blocks if block.level]
    for before, after in pairwise(chunks):
        repeated = document.text[after.start : before.end]
        if repeated:
            assert preset.measure(repeated) <= preset.overlap
            new = before.end + len(document.text[before.end :][:200]) - len(document.text[before.end :][:200].lstrip())
            inside = sections[bisect_left(sections, after.start + 1) :]
            assert not inside or inside[0] > new


def assert_no_heading_at_an_end(document: Document, chunks: Sequence[Chunk], preset: Preset) -> None:
    """Text follows a heading in its chunk; the exceptions are headings of half a chunk, and headings without text."""
    ends = {piece.end for piece in chunks}
    for heading, below in pairwise(document.blocks):
        if is_heading(heading) and not is_heading(below) and preset.measure(heading.text) < preset.budget // 2:
            assert heading.end not in ends, heading.text


def assert_whole_where_it_fits(document: Document, chunks: Sequence[Chunk], preset: Preset) -> None:
    """Code, table parts and items are whole where they fit, with the headings above; else code and rows by lines."""
    borders = sorted({place for piece in chunks for place in (piece.start, piece.end)})
    lead = 0
    for index, block in enumerate(document.blocks):
        lead = lead if index and is_heading(document.blocks[index - 1]) else block.start
        inside = borders[bisect_left(borders, block.start + 1) : bisect_left(borders, block.end)]
        if not inside or block.kind not in KEPT_WHOLE:
            continue
        spare = _SEAMS if lead < block.start else 0
        assert preset.measure(document.text[lead : block.end]) > preset.budget - spare, block.text
        if block.kind is not Kind.LIST:
            for place in inside:
                assert at_a_line_end(document.text, place) or line_is_long(document.text, lead, block, place, preset)


def at_a_line_end(text: str, place: int) -> bool:
    """Whether nothing but blanks lies between the place and the beginning or end of its line."""
    line_start = text.rfind("\n", 0, place) + 1
    line_end = text.find("\n", place)
    rest = text[place : line_end if line_end >= 0 else len(text)]
    return not text[line_start:place].strip() or not rest.strip()


def line_is_long(text: str, lead: int, block: Block, place: int, preset: Preset) -> bool:
    """Whether the line at a place is too long for a chunk, the first one with the headings from `lead` on."""
    first = text.rfind("\n", block.start, place) + 1 or lead
    last = text.find("\n", place, block.end)
    return preset.measure(text[first : last if last >= 0 else block.end]) > preset.budget - _SEAMS


def is_heading(block: Block) -> bool:
    """Whether the block is a title of any kind."""
    return block.level > 0 or block.kind is Kind.HEADING
