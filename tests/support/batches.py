"""Batches of embedded chunks, as the embedder publishes them."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from schemas.events import Chunk, SourceEmbedded
from schemas.identifiers import chunk_id, content_hash, default_knowledge_base_id
from schemas.recipes import cutting
from tests.support.rooms import SPACE, HashModel

MODEL = HashModel()


def chunks_of(source: UUID, texts: Iterable[str]) -> list[Chunk]:
    """One chunk a text, in order."""
    found, start, seen = [], 0, dict[str, int]()
    for order, text in enumerate(texts):
        digest = content_hash(text)
        occurrence = seen.setdefault(digest, 0)
        seen[digest] += 1
        id_, end = chunk_id(source, digest, occurrence), start + len(text)
        found.append(Chunk(id=id_, order=order, text=text, token_count=5, start=start, end=end, content_hash=digest))
        start = end + 2
    return found


def embedded(
    organization: UUID, source: UUID, texts: Sequence[str], *, revision: int = 1, size: int | None = None, **fields: Any
) -> list[SourceEmbedded]:
    """The batches of a revision, of `size` chunks each, or all in one."""
    chunks = chunks_of(source, texts)
    size = size or len(chunks)
    parts = [chunks[at : at + size] for at in range(0, len(chunks), size)]
    common: dict[str, Any] = {
        "organization_id": organization,
        "source_id": source,
        "revision": revision,
        "knowledge_base_id": default_knowledge_base_id(organization),
        "body_hash": content_hash("\n\n".join(texts)),
        "recipe": cutting("default"),
        "space": SPACE.name,
        "dimensions": SPACE.dimensions,
    }
    return [
        SourceEmbedded(
            **common
            | {"batch": number, "batches": len(parts), "chunks": tuple(part)}
            | {"vectors": tuple(vector_of(chunk.text) for chunk in part)}
            | fields
        )
        for number, part in enumerate(parts)
    ]


def vector_of(text: str) -> str:
    return base64.b64encode(MODEL.vector(text)).decode()
