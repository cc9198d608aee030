"""A reader in a process of its own, as the query service is one: it shares cores with the writers, not their time."""

from __future__ import annotations

import asyncio
import re
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Self
from uuid import UUID

import numpy as np
from pydantic import SecretStr

from services.chassis.postgres import Postgres
from services.chassis.settings import PostgresSettings
from services.encoder.encoder import Limits
from services.query.access import Principal
from services.query.query_vectors import QueryVectors
from services.query.search import Filters, Search
from services.query.settings import SearchSettings
from tests.support.rooms import SPACE

QUERY, HITS = "whale book revision number", 15
QUIET = 200
"""Searches before anything else is done."""


class OneVector:
    """Every query is the same to it."""

    space = SPACE
    limits = Limits()

    async def embed_query(self, text: str) -> bytes:
        return np.ones(SPACE.dimensions, "<f4").tobytes()

    async def embed_passages(self, texts: Sequence[str]) -> list[bytes]:
        return [await self.embed_query(text) for text in texts]

    async def aclose(self) -> None:
        pass


@dataclass
class Watched:
    """What searches saw: the seconds of each, the revisions that chunks told, and answers that no reader should get."""

    taken: list[float] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)

    @property
    def p95_ms(self) -> float:
        """Of the searches."""
        return 1000 * statistics.quantiles(self.taken, n=20)[-1]

    async def ask(self, search: Search, principal: Principal) -> None:
        """Search once."""
        begun = time.perf_counter()
        answer = await search.search(principal, QUERY, HITS, Filters())
        self.taken.append(time.perf_counter() - begun)
        texts = [hit.row.text for hit in answer.hits] + [again.row.text for hit in answer.hits for again in hit.also_in]
        told = {found[1] for text in texts if (found := re.search(r"number (\d+)\.", text))}
        if len(texts) < HITS or len(told) != 1:
            self.wrong.append(f"{len(texts)} texts of the revisions {sorted(told)}")
        self.seen |= told


async def _watch(dsn: str, organization: UUID, told: Connection) -> None:
    postgres = Postgres(PostgresSettings(dsn=SecretStr(dsn), role="kb_query", pool=1))
    await postgres.open()
    search = Search(postgres, QueryVectors(OneVector(), SearchSettings()), None)
    quiet, busy, principal = Watched(), Watched(), Principal(organization)
    for _ in range(QUIET):
        await quiet.ask(search, principal)
    told.send(quiet)
    while not told.poll():
        await busy.ask(search, principal)
    told.send(busy)
    await postgres.close()


def _main(dsn: str, organization: UUID, told: Connection) -> None:
    asyncio.run(_watch(dsn, organization, told))


class Watcher:
    """Searches from `with` on until it is asked for what it saw. `quiet` is what it saw before."""

    def __init__(self, dsn: str, organization: UUID) -> None:
        context = get_context("spawn")
        self._told, theirs = context.Pipe()
        self._process = context.Process(target=_main, args=(dsn, organization, theirs), daemon=True)

    def __enter__(self) -> Self:
        self._process.start()
        self.quiet = self._receive()
        return self

    def stop(self) -> Watched:
        """End the searching."""
        self._told.send("stop")
        return self._receive()

    def _receive(self) -> Watched:
        watched = self._told.recv()
        assert isinstance(watched, Watched)
        return watched

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.join(30)
