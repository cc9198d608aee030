from __future__ import annotations

import base64
from uuid import UUID

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from schemas.cloudevents import to_value
from schemas.events import Chunk, SourceEmbedded
from schemas.events.pipeline import BATCH_BYTES, CHUNKS_PER_BATCH
from schemas.identifiers import content_hash
from services.chassis.broker import MESSAGE_BYTES
from services.chunker import chunking
from services.chunker.batches import batches, identified
from services.chunker.blocks import Locator
from tests.support.batches import chunks_of

SOURCE, OTHER = UUID(int=1), UUID(int=2)
LARGEST_VECTOR = np.zeros(3072, "<f4").tobytes()


def pieces(
    texts: list[str],
    headings: tuple[str, ...] = (),
    locator: Locator = Locator(),  # noqa: B008
) -> list[chunking.Chunk]:
    return [
        chunking.Chunk(order, text, 5, headings, locator, 0, len(text), content_hash(text))
        for order, text in enumerate(texts)
    ]


@given(st.lists(st.sampled_from("abc"), max_size=12))
def test_ids_are_unique_and_stay_when_others_move(texts: list[str]) -> None:
    ids = [chunk.id for chunk in identified(SOURCE, pieces(texts))]
    assert len(set(ids)) == len(ids)
    moved = [chunk.id for chunk in identified(SOURCE, pieces(sorted(texts)))]
    assert set(moved) == set(ids)
    assert not set(ids) & {chunk.id for chunk in identified(OTHER, pieces(texts))}


def test_chunks_are_passed_on_as_they_are() -> None:
    (piece,) = pieces(["text"], ("A", "B"), Locator(page=3, anchor="x"))
    (chunk,) = identified(SOURCE, [piece])
    assert (chunk.text, chunk.heading_path, chunk.order, chunk.token_count) == ("text", ("A", "B"), 0, 5)
    assert (chunk.start, chunk.end, chunk.content_hash) == (0, 4, content_hash("text"))
    assert (chunk.locator.page, chunk.locator.anchor) == (piece.locator.page, piece.locator.anchor)


WEIGHTS = st.lists(st.integers(1, 60_000), max_size=80)


@given(WEIGHTS)
def test_batches_hold_all_chunks_in_order_within_their_number(weights: list[int]) -> None:
    chunks = chunks_of(SOURCE, [str(number).ljust(weight, "x") for number, weight in enumerate(weights)])
    parts = list(batches(chunks))
    assert [chunk for part in parts for chunk in part] == chunks
    assert all(0 < len(part) <= CHUNKS_PER_BATCH for part in parts)


NASTY = st.sampled_from(["x", '"', "\\", "\n", "\t", "\x01", "\x7f", "ü", "漢", "😀", "\u2028"])


@example([("\x01", 20_000)] * 14, 0)
@example([("ü", 20_000)] * 14, 8)
@given(st.lists(st.tuples(NASTY, st.integers(1, 30_000)), min_size=1, max_size=30), st.integers(0, 8))
def test_embedded_batch_fits_into_its_bytes_whatever_the_text(parts: list[tuple[str, int]], depth: int) -> None:
    texts = [f"{number}{mark * length}" for number, (mark, length) in enumerate(parts)]
    headings = tuple(part[0] * 50 for part in parts[:depth])
    for part in batches(identified(SOURCE, pieces(texts, headings))):
        size = len(to_value(embedded(part)))
        assert size <= (BATCH_BYTES + 4096 if len(part) > 1 else MESSAGE_BYTES)


def embedded(chunks: tuple[Chunk, ...]) -> SourceEmbedded:
    vector = base64.b64encode(LARGEST_VECTOR).decode()
    return SourceEmbedded(
        organization_id=SOURCE,
        source_id=SOURCE,
        revision=1,
        knowledge_base_id=SOURCE,
        batch=0,
        batches=1,
        body_hash="0" * 64,
        recipe="1/default",
        chunks=chunks,
        space="openai/text-embedding-3-large@3072",
        dimensions=3072,
        vectors=(vector,) * len(chunks),
    )
