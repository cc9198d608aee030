"""What the embedder reads and writes in the database: vectors that are there, and what the others cost."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

import numpy as np
from psycopg import sql

from schemas.events import SourceChunked, SourceEmbedded
from schemas.recipes import recipe
from services.chassis.coalescing import Coalescer
from services.chassis.postgres import Postgres
from services.chassis.queries import load_queries
from services.encoder.spaces import EmbeddingSpace

_SQL = load_queries("services.embedder", "store.sql")
_MOST = 256
_HALFVEC_HEAD = 4


class Usage(NamedTuple):
    """What one batch cost. `cost` is in millionths of a dollar."""

    event: SourceChunked
    chunks: int
    reused: int
    tokens: int
    cost: int


class _Wanted(NamedTuple):
    organization_id: UUID
    hashes: tuple[str, ...]


class VectorStore:
    """One embedding space's vectors, and its meter."""

    def __init__(self, postgres: Postgres, space: EmbeddingSpace | None) -> None:
        self._postgres = postgres
        self._space = space
        self._table: sql.Identifier | None = None
        self._find = Coalescer(self._find_many, most=_MOST)
        self._meter = Coalescer(self._meter_many, most=_MOST)

    async def register(self) -> None:
        """Make the space's table, if it is new, and let new revisions use the space. Raises DependencyDown."""
        name = self._space.name if self._space else None
        if self._space is not None:
            parameters = {"name": name, "dimensions": self._space.dimensions}
            ((space_id,),) = await self._postgres.fetch(_SQL["register"], parameters)
            self._table = sql.Identifier(f"chunk_vector_{space_id}")
        await self._postgres.fetch(_SQL["use"], {"name": name})

    async def known(self, event: SourceChunked) -> dict[str, str]:
        """Vectors that are there for texts of the batch: base64 of float32 by content hash."""
        if event.batches > 1 and (staged := await self._staged(event)):
            return staged
        return await self._find(_Wanted(event.organization_id, tuple(chunk.content_hash for chunk in event.chunks)))

    async def meter(self, usage: Usage) -> None:
        """Note what the batch cost, if it is not noted yet."""
        await self._meter(usage)

    async def _staged(self, event: SourceChunked) -> dict[str, str]:
        rows = await self._postgres.fetch(
            _SQL["staged"],
            {
                "organization": event.organization_id,
                "source": event.source_id,
                "revision": event.revision,
                "body_hash": event.body_hash,
                "recipe": recipe(event.recipe, self._space.name if self._space else None),
                "batch": event.batch,
            },
        )
        for (payload,) in rows:
            staged = SourceEmbedded.model_validate_json(payload)
            if staged.vectors:
                return {chunk.content_hash: v for chunk, v in zip(staged.chunks, staged.vectors, strict=True)}
        return {}

    async def _find_many(self, wanted: Sequence[_Wanted]) -> list[dict[str, str]]:
        if self._table is None:
            return [{} for _ in wanted]
        query = sql.SQL(
            "select distinct on (organization_id, content_hash) c.organization_id, c.content_hash, v.embedding "
            "from unnest(%s::uuid[], %s::bytea[]) as asked (organization_id, content_hash) "
            "join chunk c using (organization_id, content_hash) "
            "join {} v on (v.organization_id, v.source_id, v.chunk_id) = (c.organization_id, c.source_id, c.id)"
        ).format(self._table)
        pairs = [(one.organization_id, bytes.fromhex(digest)) for one in wanted for digest in one.hashes]
        parameters = ([pair[0] for pair in pairs], [pair[1] for pair in pairs])
        async with self._postgres.transaction() as connection:
            cursor = await connection.cursor(binary=True).execute(query, parameters)
            rows = await cursor.fetchall()
        found = {(row[0], row[1].hex()): _to_base64(row[2]) for row in rows}
        return [
            {d: found[one.organization_id, d] for d in one.hashes if (one.organization_id, d) in found}
            for one in wanted
        ]

    async def _meter_many(self, usages: Sequence[Usage]) -> list[None]:
        events = [usage.event for usage in usages]
        name = self._space.name if self._space else "none"
        async with self._postgres.transaction() as connection:
            await connection.execute(
                _SQL["meter"],
                {
                    "organizations": [event.organization_id for event in events],
                    "sources": [event.source_id for event in events],
                    "revisions": [event.revision for event in events],
                    "spaces": [name for _ in events],
                    "batches": [event.batch for event in events],
                    "body_hashes": [event.body_hash for event in events],
                    "recipes": [event.recipe for event in events],
                    "chunks": [usage.chunks for usage in usages],
                    "reused": [usage.reused for usage in usages],
                    "tokens": [usage.tokens for usage in usages],
                    "costs": [usage.cost for usage in usages],
                },
            )
        return [None for _ in usages]


def _to_base64(halfvec: bytes) -> str:
    numbers = np.frombuffer(halfvec, dtype=">f2", offset=_HALFVEC_HEAD)
    return base64.b64encode(numbers.astype("<f4").tobytes()).decode()
