"""Asks a collection's queries, by the same code as the query service, and ranks documents by their best chunk."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from services.cli.evaluation.collection import Document, Query
from services.cli.evaluation.ingesting import Ingested
from services.cli.evaluation.system import System
from services.cli.failures import CommandFailed
from services.query.access import Principal
from services.query.fusion import Fusion
from services.query.query_vectors import NoVector, QueryVectors
from services.query.search import LONGEST_QUERY, SHORTEST_QUERY, Answer, Filters, Search
from services.query.settings import SearchSettings

_WHOLE_WORDS = re.compile(rf".{{{SHORTEST_QUERY - 1},{LONGEST_QUERY - 1}}}\S(?=\s)", re.DOTALL)
_MODEL_SECONDS = 120.0  # an evaluation would rather wait than go on with keywords alone


@dataclass(frozen=True, slots=True)
class Asked:
    """A query, and the documents that were found, best first."""

    query: Query
    ranking: Sequence[str]
    seconds: float


@dataclass(frozen=True, slots=True)
class Searchable:
    """Queries as they can be searched. `model_seconds`: what the vector of each took."""

    queries: Sequence[tuple[Query, str]]
    cut: int
    too_short: int
    model_seconds: Sequence[float]


class Asker:
    """Asks of one organization. `k` is the number of chunks that each query asks for."""

    def __init__(self, system: System, ingested: Ingested, queries: Sequence[Query], k: int) -> None:
        settings = SearchSettings(model_timeout=_MODEL_SECONDS, cached_vectors=len(queries))
        self._has_model = system.encoder is not None
        self._vectors = QueryVectors(system.encoder, settings)
        self._search = Search(system.postgres, self._vectors, None)
        self._principal = Principal(ingested.organization, role="admin")
        self._documents = ingested.documents
        self._queries = queries
        self._k = k

    async def prepare(self) -> Searchable:
        """Make the vectors of all queries, so that they are there whatever is asked how. Raises CommandFailed."""
        queries, seconds = [], []
        cut = 0
        for query in self._queries:
            text = as_asked(query.text)
            if text is None:
                continue
            cut += len(text) < len(_bare(query.text))
            begun = time.perf_counter()
            vector = await self._vectors.of(text)
            seconds.append(time.perf_counter() - begun)
            self._check(vector if isinstance(vector, NoVector) else None)
            queries.append((query, text))
        return Searchable(queries, cut, len(self._queries) - len(queries), seconds if self._has_model else [])

    async def ask(self, searchable: Searchable, fusion: Fusion) -> list[Asked]:
        """One query after the other, so that times are those of a search alone. Raises CommandFailed."""
        asked = []
        for query, text in searchable.queries:
            begun = time.perf_counter()
            answer = await self._search.search(self._principal, text, self._k, Filters(), fusion)
            seconds = time.perf_counter() - begun
            self._check(answer.degraded)
            asked.append(Asked(query, ranking(answer, self._documents), seconds))
        return asked

    def _check(self, missing: NoVector | None) -> None:
        # Figures of half a search must not pass for those of a whole one.
        if missing is not None and self._has_model:
            raise CommandFailed(missing.code, missing.reason)


def ranking(answer: Answer, documents: Mapping[UUID, Document]) -> list[str]:
    """Ids of the documents in the order of their best chunks' scores. `documents` are by source."""
    # Chunks that say the same are one hit, but each document was found.
    chunks = [chunk for hit in answer.hits for chunk in (hit, *hit.also_in)]
    chunks.sort(key=lambda chunk: -chunk.row.score)
    return list(dict.fromkeys(documents[chunk.row.source_id].id for chunk in chunks))


def as_asked(text: str) -> str | None:
    """The query as searches take it: a longer one is cut, between words where it has any. None: too short."""
    query = _bare(text)
    if len(query) > LONGEST_QUERY:
        words = _WHOLE_WORDS.match(query)
        query = words[0] if words else query[:LONGEST_QUERY]
    return query if len(query) >= SHORTEST_QUERY else None


def _bare(text: str) -> str:
    return text.replace("\0", " ").strip()
