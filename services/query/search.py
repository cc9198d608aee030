"""Answers a query: both arms over every organization that the principal can see, fused, cut to k, cited."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple
from uuid import UUID

from psycopg.types.json import Jsonb

from schemas.codes import Code
from schemas.words import words_of
from services.chassis import metrics
from services.chassis.errors import RequestRefused
from services.chassis.postgres import Postgres
from services.chassis.queries import load_queries
from services.query.access import Principal, Reader, readers
from services.query.citing import deep_link
from services.query.collapsing import Group, collapse
from services.query.fusion import Candidate, Fusion, Ranked, Spread, fuse
from services.query.query_vectors import NoVector, QueryVector, QueryVectors

_SQL = load_queries("services.query", "search.sql")

SHORTEST_QUERY, LONGEST_QUERY = 3, 500
SMALLEST_POOL, POOL_PER_HIT = 30, 4
WIDEST_POOL = 480
"""Beyond it an answer is short where hundreds of chunks say the same."""
MOST_WORDS = 100
"""Of a query: 500 characters can hold more only by saying little."""

Mode = Literal["hybrid", "keyword", "vector"]


@dataclass(frozen=True, slots=True)
class Filters:
    """What the caller narrows the search to; None: everything. Sources hold all of `metadata` in theirs."""

    knowledge_base_ids: list[UUID] | None = None
    source_ids: list[UUID] | None = None
    kinds: list[str] | None = None
    public_only: bool = False
    metadata: dict[str, Any] | None = None


class Row(NamedTuple):
    """A row of the statement, in its order. `locator` is JSON, which is read for the answer's rows alone."""

    chunk_id: UUID
    cosine: float | None
    bm25: float
    cosine_mean: float | None
    cosine_deviation: float | None
    bm25_mean: float
    bm25_deviation: float
    source_id: UUID
    knowledge_base_id: UUID
    title: str | None
    url: str | None
    heading_path: list[str]
    locator: str
    ordinal: int
    token_count: int
    text: str

    def candidate(self) -> Candidate:
        """What the fusion needs of it."""
        cosines = scores = None
        if self.cosine_mean is not None and self.cosine_deviation is not None:
            cosines = Spread(self.cosine_mean, self.cosine_deviation)
        if self.bm25_mean > 0:
            scores = Spread(self.bm25_mean, self.bm25_deviation)
        return Candidate(self.chunk_id, self.cosine, self.bm25, cosines, scores)


class Hit(NamedTuple):
    """A chunk of the answer. `url` leads to the place in the original where there is one.

    `also_in` are chunks that were found as well and say the same.
    """

    row: Row
    ranked: Ranked
    locator: dict[str, Any]
    url: str | None
    also_in: list[Hit]


@dataclass(frozen=True, slots=True)
class Answer:
    """`degraded` says why the vector arm did not take part, where it should have; `space` is the one it searched."""

    hits: list[Hit]
    mode: Mode
    degraded: NoVector | None
    space: str | None


class Search:
    """Searches on behalf of principals."""

    def __init__(self, postgres: Postgres, vectors: QueryVectors, public_organization: UUID | None) -> None:
        self._postgres = postgres
        self._vectors = vectors
        self._public_organization = public_organization
        self._spaces: dict[str, int] = {}
        self._has_pgvector = False

    async def search(
        self, principal: Principal, query: str, k: int, filters: Filters, fusion: Fusion = "scores"
    ) -> Answer:
        """The k best chunks. Raises RequestRefused (QUERY_INVALID, SEARCH_UNAVAILABLE) and DependencyDown."""
        query = checked_query(query)
        vector = await self._vectors.of(query)
        await self._check_pgvector()
        space = await self._space_of(vector) if isinstance(vector, QueryVector) else None
        if isinstance(vector, QueryVector) and space is None:
            vector = NoVector(Code.MODEL_UNAVAILABLE, f"nothing has been embedded in {vector.space} yet")
        words = words_of(query)
        pool = max(SMALLEST_POOL, POOL_PER_HIT * k)
        parameters: dict[str, Any] = {
            "prose": words.prose.split()[:MOST_WORDS],
            "verbatim": words.verbatim[:MOST_WORDS],
            "vector": vector.text if isinstance(vector, QueryVector) else None,
            "space": space,
            "pool": pool,
            "bases": filters.knowledge_base_ids,
            "sources": filters.source_ids,
            "kinds": filters.kinds,
            "public_only": filters.public_only,
            "metadata": None if filters.metadata is None else Jsonb(filters.metadata),
        }
        views = readers(principal, self._public_organization)
        rows = await self._rows(views, parameters)
        answer = _answer(rows, vector, fusion, pool, k)
        while _twins_hide_others(answer, rows, pool, k):
            pool *= POOL_PER_HIT
            rows = await self._rows(views, parameters | {"pool": pool})
            answer = _answer(rows, vector, fusion, pool, k)
        return answer

    async def _rows(self, views: Sequence[Reader], parameters: dict[str, Any]) -> list[Row]:
        started = time.perf_counter()
        found = await asyncio.gather(*(self._candidates(reader, parameters) for reader in views))
        metrics.SEARCH_SECONDS.labels("statement").observe(time.perf_counter() - started)
        return [row for rows in found for row in rows]

    async def _candidates(self, reader: Reader, parameters: dict[str, Any]) -> list[Row]:
        async with self._postgres.transaction(reader.organization_id) as connection:
            cursor = await connection.execute(_SQL["candidates"], parameters | reader.arguments)
            return [Row._make(row) for row in await cursor.fetchall()]

    async def _check_pgvector(self) -> None:
        if not self._has_pgvector:
            [(self._has_pgvector,)] = await self._postgres.fetch(_SQL["has_pgvector"])
        if not self._has_pgvector:
            raise RequestRefused(Code.SEARCH_UNAVAILABLE, f"{Code.W002}: Postgres lacks pgvector", status=503)

    async def _space_of(self, vector: QueryVector) -> int | None:
        if vector.space not in self._spaces:
            for name, number in await self._postgres.fetch(_SQL["spaces"]):
                self._spaces[name] = number
        return self._spaces.get(vector.space)


def checked_query(text: str) -> str:
    """The query as it is searched. Raises RequestRefused(QUERY_INVALID)."""
    query = text.replace("\0", " ").encode("utf-8", "replace").decode().strip()
    if not SHORTEST_QUERY <= len(query) <= LONGEST_QUERY:
        reason = f"a query has {SHORTEST_QUERY} to {LONGEST_QUERY} characters, not {len(query)}"
        raise RequestRefused(Code.QUERY_INVALID, reason)
    return query


def _answer(rows: list[Row], vector: QueryVector | NoVector, fusion: Fusion, pool: int, k: int) -> Answer:
    by_id = {row.chunk_id: row for row in rows}
    # All of them: which are alike is known once their texts are compared, from the best one down.
    ranked = fuse([row.candidate() for row in rows], fusion, pool, len(rows))
    groups = collapse(ranked, lambda each: by_id[each.candidate.chunk_id].text, k)
    hits = [_hit(by_id, group) for group in groups]
    if isinstance(vector, NoVector):
        return Answer(hits, "keyword", degraded=vector, space=None)
    return Answer(hits, _mode(rows), degraded=None, space=vector.space)


def _twins_hide_others(answer: Answer, rows: list[Row], pool: int, k: int) -> bool:
    """Whether there can be more to find, where chunks that say the same have filled an arm."""
    is_short = len(answer.hits) < k and any(hit.also_in for hit in answer.hits)
    return is_short and len(rows) >= pool and pool < WIDEST_POOL


def _hit(by_id: dict[UUID, Row], group: Group[Ranked]) -> Hit:
    row = by_id[group.best.candidate.chunk_id]
    locator = json.loads(row.locator)
    others = [_hit(by_id, Group(other, [])) for other in group.others]
    return Hit(row, group.best, locator, deep_link(row.url, locator), others)


def _mode(rows: list[Row]) -> Mode:
    # Stop words alone, or words that no chunk holds, leave nothing for the keyword arm.
    return "vector" if rows and not any(row.bm25_mean > 0 for row in rows) else "hybrid"
