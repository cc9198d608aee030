"""The chunks before and after those of an answer, as their sources are at the moment."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from services.chassis.postgres import Postgres
from services.chassis.queries import load_queries
from services.query.access import Principal, Reader, readers
from services.query.search import Hit

_SQL = load_queries("services.query", "neighbours.sql")


class Neighbour(NamedTuple):
    """A chunk beside another."""

    chunk_id: UUID
    ordinal: int
    text: str


class Pair(NamedTuple):
    """What stands around a chunk; None at an end of the source."""

    before: Neighbour | None = None
    after: Neighbour | None = None


class Neighbours:
    """Looks around chunks on behalf of principals."""

    def __init__(self, postgres: Postgres, public_organization: UUID | None) -> None:
        self._postgres = postgres
        self._public_organization = public_organization

    async def of(self, principal: Principal, hits: Sequence[Hit]) -> list[Pair]:
        """The pair of each hit. Raises DependencyDown.

        Sources are read as the principal may see them now: one that was hidden or changed since the search, so that it
        holds the chunk no longer, gives no neighbours.
        """
        pairs = [Pair()] * len(hits)
        if not hits:
            return pairs
        views = readers(principal, self._public_organization)
        for rows in await asyncio.gather(*(self._around(reader, hits) for reader in views)):
            for place, is_after, *found in rows:
                neighbour = Neighbour._make(found)
                pairs[place] = pairs[place]._replace(**{"after" if is_after else "before": neighbour})
        return pairs

    async def _around(self, reader: Reader, hits: Sequence[Hit]) -> list[tuple[int, bool, UUID, int, str]]:
        chosen = {"sources": [hit.row.source_id for hit in hits], "chunks": [hit.row.chunk_id for hit in hits]}
        async with self._postgres.transaction(reader.organization_id) as connection:
            cursor = await connection.execute(_SQL["around"], chosen | reader.arguments)
            return [(row[0], row[1], row[2], row[3], row[4]) for row in await cursor.fetchall()]
