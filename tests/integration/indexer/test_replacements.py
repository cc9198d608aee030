"""Searches while a source is replaced again and again: one revision or the other, never both, never nothing."""

from __future__ import annotations

import asyncio
import re
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

import numpy as np
import pytest
from pydantic import SecretStr

from services.chassis.postgres import Postgres
from services.chassis.settings import PostgresSettings
from services.encoder.encoder import Limits
from services.query.access import Principal
from services.query.query_vectors import QueryVectors
from services.query.search import Filters, Search
from services.query.settings import SearchSettings
from tests.integration.indexer.sources import InHand
from tests.support.migrated import Tables
from tests.support.rooms import SPACE

CHUNKS, REPLACEMENTS = 200, 500


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


@pytest.fixture
async def search(tables: Tables) -> AsyncIterator[Search]:
    postgres = Postgres(PostgresSettings(dsn=SecretStr(tables.dsn), role="kb_query", pool=4))
    await postgres.open()
    yield Search(postgres, QueryVectors(OneVector(), SearchSettings()), None)
    await postgres.close()


def texts_of(revision: int) -> list[str]:
    """A tenth of the chunks tells its revision."""
    return [
        f"Part {part} of the whale book" + (f" in revision number {revision}." if part % 10 == 0 else " stays.")
        for part in range(CHUNKS)
    ]


class Watch:
    """Searches until it is told to stop."""

    def __init__(self, search: Search, source: InHand) -> None:
        self._search = search
        self._principal = Principal(source.organization)
        self.stopped = False
        self.taken: list[float] = []
        self.seen: set[str] = set()

    async def ask(self) -> None:
        begun = time.perf_counter()
        answer = await self._search.search(self._principal, "whale book revision number", 15, Filters())
        self.taken.append(time.perf_counter() - begun)
        texts = [hit.row.text for hit in answer.hits] + [again.row.text for hit in answer.hits for again in hit.also_in]
        told = {found[1] for text in texts if (found := re.search(r"number (\d+)\.", text))}
        assert len(texts) >= 15
        assert len(told) == 1, "chunks of two revisions in one answer"
        self.seen |= told

    async def run(self) -> None:
        while not self.stopped:
            await self.ask()

    @property
    def p95(self) -> float:
        return statistics.quantiles(self.taken, n=20)[-1]


async def test_an_answer_is_of_one_revision(
    source: InHand, search: Search, tables: Tables, record_property: Any
) -> None:
    await source.index(*source.batches(texts_of(1)))
    quiet, busy = Watch(search, source), Watch(search, source)
    for _ in range(100):
        await quiet.ask()
    watching = asyncio.create_task(busy.run())
    for number in range(2, REPLACEMENTS + 2):
        revision = source.wish()
        await source.index(*source.batches(texts_of(number), revision=revision))
    busy.stopped = True
    await watching
    record_property("p95_ms_quiet", round(quiet.p95 * 1000, 1))
    record_property("p95_ms_busy", round(busy.p95 * 1000, 1))
    print(f"p95 {quiet.p95 * 1000:.1f} ms quiet, {busy.p95 * 1000:.1f} ms busy, {len(busy.seen)} revisions seen")
    assert len(busy.seen) > 20
    # Both share two cores with the writing here: more than that would be waiting for locks.
    assert busy.p95 < 5 * quiet.p95
    assert tables.row("select count(*) from chunk where source_id = %s", source.id) == (CHUNKS,)
