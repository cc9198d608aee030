"""A document's chunks as the batches in which they travel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from uuid import UUID

from pydantic_core import to_json

from schemas import events
from schemas.events import Chunk
from schemas.events.pipeline import BATCH_BYTES, CHUNKS_PER_BATCH
from schemas.identifiers import chunk_id
from services.chunker import chunking

_VECTOR_BYTES = 16_384  # of 3,072 numbers as base64
_FIELD_BYTES = 512  # ids, hash, numbers and names of fields of a chunk


def identified(source_id: UUID, pieces: Iterable[chunking.Chunk]) -> list[Chunk]:
    """The pieces with their ids. Equal texts within a source are told apart by their count."""
    seen: Counter[str] = Counter()
    chunks = []
    for piece in pieces:
        occurrence = seen[piece.content_hash]
        seen[piece.content_hash] += 1
        chunks.append(
            Chunk(
                id=chunk_id(source_id, piece.content_hash, occurrence),
                order=piece.order,
                text=piece.text,
                token_count=piece.token_count,
                heading_path=piece.heading_path,
                locator=events.Locator(**asdict(piece.locator)),
                start=piece.start,
                end=piece.end,
                content_hash=piece.content_hash,
            )
        )
    return chunks


def batches(chunks: Sequence[Chunk]) -> Iterator[tuple[Chunk, ...]]:
    """Cut into batches that stay within their bounds of number and bytes, vectors included."""
    batch: list[Chunk] = []
    size = 0
    for chunk in chunks:
        weight = _weight(chunk)
        if batch and (len(batch) == CHUNKS_PER_BATCH or size + weight > BATCH_BYTES):
            yield tuple(batch)
            batch, size = [], 0
        batch.append(chunk)
        size += weight
    if batch:
        yield tuple(batch)


def _weight(chunk: Chunk) -> int:
    return len(to_json(chunk.text)) + len(to_json(chunk.heading_path)) + _VECTOR_BYTES + _FIELD_BYTES
