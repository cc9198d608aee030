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
from services.query.fusion import Fusion
from services.query.query_vectors import NoVector, QueryVector, QueryVectors

_SQL = load_queries("services.query", "search.sql")

SHORTEST_QUERY, LONGEST_QUERY = 3, 500
SMALLEST_POOL, POOL_PER_HIT = 30, 4
WIDEST_POOL = 480
"""Beyond it an answer is short where hundreds of chunks say the same."""
SPARE = 10
"""Rows that are read beside the k best, in case some of those say the same."""
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
    """A row of the statement, in its order. `locator` is JSON, which is read for the answer's rows alone.

    Ranks are from 1 within an arm of the chunk's organization; None: not among the arm's best. `bm25` is 0 where no
    word matches. `has_words`: the organization's chunks hold a word of the query.
    """

    chunk_id: UUID
    score: float
    cosine: float | None
    vector_rank: int | None
    bm25: float
    keyword_rank: int | None
    has_words: bool
    source_id: UUID
    knowledge_base_id: UUID
    title: str | None
    url: str | None
    heading_path: list[str]
    locator: str
    ordinal: int
    token_count: int
    text: str


class Hit(NamedTuple):
    """A chunk of the answer. `url` leads to the place in the original where there is one.

    `also_in` are chunks that were found as well and say the same.
    """

    row: Row
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
        asked: dict[str, Any] = {
            "prose": words.prose.split()[:MOST_WORDS],
            "verbatim": words.verbatim[:MOST_WORDS],
            "vector": vector.text if isinstance(vector, QueryVector) else None,
            "space": space,
            "fusion": fusion,
            "bases": filters.knowledge_base_ids,
            "sources": filters.source_ids,
            "kinds": filters.kinds,
            "public_only": filters.public_only,
            "metadata": None if filters.metadata is None else Jsonb(filters.metadata),
        }
        views = readers(principal, self._public_organization)
        groups, rows = await self._distinct(views, asked, k)
        return _answer(groups, rows, vector)

    async def _distinct(
        self, views: Sequence[Reader], asked: dict[str, Any], k: int
    ) -> tuple[list[Group[Row]], list[Row]]:
        """The best that are not alike. Where chunks that say the same have taken the places, more are asked for."""
        pool = max(SMALLEST_POOL, POOL_PER_HIT * k)
        most = k + SPARE
        while True:
            rows = await self._rows(views, asked | {"pool": pool, "most": most})
            groups = collapse(rows, lambda row: row.text, k)
            if len(groups) == k:
                return groups, rows
            if len(rows) < most:  # all candidates were looked at: only wider arms can have more
                if len(rows) < pool or pool >= WIDEST_POOL:
                    return groups, rows
                pool *= POOL_PER_HIT
            most = 2 * pool + 1

    async def _rows(self, views: Sequence[Reader], parameters: dict[str, Any]) -> list[Row]:
        started = time.perf_counter()
        found = await asyncio.gather(*(self._candidates(reader, parameters) for reader in views))
        metrics.SEARCH_SECONDS.labels("statement").observe(time.perf_counter() - started)
        if len(found) == 1:
            return found[0]
        rows = [row for rows in found for row in rows]
        rows.sort(key=lambda row: (-row.score, row.chunk_id))
        return rows[: parameters["most"]]

    async def _candidates(self, reader: Reader, parameters: dict[str, Any]) -> list[Row]:
        async with self._postgres.transaction(reader.organization_id) as connection:
            cursor = await connection.execute(_SQL["search"], parameters | reader.arguments)
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


def _answer(groups: list[Group[Row]], rows: list[Row], vector: QueryVector | NoVector) -> Answer:
    hits = [_hit(group) for group in groups]
    if isinstance(vector, NoVector):
        return Answer(hits, "keyword", degraded=vector, space=None)
    return Answer(hits, _mode(rows), degraded=None, space=vector.space)


def _hit(group: Group[Row]) -> Hit:
    locator = json.loads(group.best.locator)
    others = [_hit(Group(other, [])) for other in group.others]
    return Hit(group.best, locator, deep_link(group.best.url, locator), others)


def _mode(rows: list[Row]) -> Mode:
    # Stop words alone, or words that no chunk holds, leave nothing for the keyword arm.
    return "vector" if rows and not any(row.has_words for row in rows) else "hybrid"
