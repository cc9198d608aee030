"""Asks a filled database the questions of a workload, as the query service does."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
from psycopg_pool import AsyncConnectionPool

from services.chassis.queries import load_queries
from tests.integration.query.rows import asked
from tests.support.filled import organization_id, rows_of

_SQL = load_queries("services.query", "search.sql")
POOL, MOST = 30, 16
"""Of a search with the six hits that are the default."""


def percentiles(taken: list[float]) -> dict[str, float]:
    """p50 and p95."""
    return {f"p{part}": round(float(np.percentile(taken, part)), 2) for part in (50, 95)}


def parameters(text: str, vector: np.ndarray | None, organization: UUID) -> dict[str, Any]:
    """Of the search statement: what a member of the organization asks without filters."""
    prose, verbatim = asked(text)
    written = None if vector is None else "[" + ",".join(f"{number:.6g}" for number in vector.tolist()) + "]"
    nothing = dict.fromkeys(("profile", "bases", "sources", "kinds", "metadata"))
    flags = dict.fromkeys(("sees_unpublished", "is_guest", "public_only"), False)
    given = {"prose": prose, "verbatim": verbatim, "vector": written, "pool": POOL, "most": MOST}
    given |= {"organization": organization, "fusion": "scores", "space": 1 if written else None}
    return nothing | flags | given


class Asker:
    """One connection in the role of the service."""

    def __init__(self, dsn: str, workload: Any, exact_top: Any) -> None:
        self._dsn = dsn
        self._workload = workload
        self._exact_top = exact_top
        self._connection = psycopg.connect(dsn)
        self._connection.execute("set role kb_query")
        self._connection.commit()
        self._row_of = rows_of(workload.org)
        self._questions = [
            (parameters(text, vector, organization_id(org)), int(org)) for text, vector, org in workload.queries
        ]

    def _ask(self, question: dict[str, Any]) -> tuple[float, list[tuple[Any, ...]]]:
        begun = time.perf_counter()
        self._connection.execute("select set_config('app.organization_id', %s, true)", (str(question["organization"]),))
        rows = self._connection.execute(_SQL["search"], question).fetchall()
        self._connection.commit()
        return 1000 * (time.perf_counter() - begun), rows

    def _narrowed(self, arm: str | None) -> list[tuple[dict[str, Any], int]]:
        without: dict[str, Any] = {}
        if arm == "vector":
            without = {"prose": [], "verbatim": [], "fusion": "dense"}
        if arm == "words":
            without = {"vector": None, "space": None, "fusion": "keyword"}
        return [(question | without, org) for question, org in self._questions]

    def round(self, arm: str | None = None) -> dict[str, float]:
        """Percentiles of the milliseconds of all questions, asked one after the other."""
        return percentiles([self._ask(question)[0] for question, _ in self._narrowed(arm)])

    def by_size(self) -> dict[str, dict[str, float]]:
        """The same by number of chunks of the organization that is asked."""
        sizes = np.bincount(self._workload.org)
        taken: dict[int, list[float]] = defaultdict(list)
        for question, org in self._questions:
            taken[10 ** len(str(int(sizes[org])))].append(self._ask(question)[0])
        return {f"below {most}": {"questions": len(each), **percentiles(each)} for most, each in sorted(taken.items())}

    def recall(self) -> dict[str, float]:
        """How many of the ten nearest the vector arm finds."""
        shares, short = [], 0
        for number, (question, _) in enumerate(self._narrowed("vector")):
            wanted = set(self._exact_top(self._workload, number, 10).tolist())
            found = {self._row_of[row[0]] for row in self._ask(question)[1][:10]}
            shares.append(len(wanted & found) / len(wanted))
            short += len(found) < len(wanted)
        return {"mean": round(float(np.mean(shares)), 4), "worst": round(min(shares), 2), "too_short": short}

    def words(self) -> dict[str, float]:
        """How many of the keyword arm's best thirty are among the best thirty by BM25 over everything.

        A chunk that scores what the thirtieth does is as good as it: the workload repeats its texts.
        """
        shares, bounded = [], 0
        scope = "search_scope(%(organization)s, null, false, false, null, null, null, false, null)"
        query = (
            "select (keyword_arm(s, w, 30, null)).scores, (w).common is not null from (select s, "
            f"search_words(s, %(prose)s, %(verbatim)s, %(is_bounded)s) as w from (select {scope} as s) x) y"
        )
        with psycopg.connect(self._dsn) as connection:
            for question, _ in self._questions:
                [(wanted, _)] = connection.execute(query, question | {"is_bounded": False}).fetchall()
                [(found, is_bounded)] = connection.execute(query, question | {"is_bounded": True}).fetchall()
                if wanted:
                    good = sum(score > min(wanted) - 1e-6 for score in found)
                    shares.append(good / len(wanted))
                    bounded += is_bounded
        return {"mean": round(float(np.mean(shares)), 4), "worst": round(min(shares), 2), "bounded": bounded}

    async def clients(self, count: int) -> dict[str, float]:
        """All questions twice, `count` at a time."""
        taken: list[float] = []
        waiting = [question for question, _ in self._questions] * 2

        async def prepare(connection: psycopg.AsyncConnection) -> None:
            await connection.execute("set role kb_query")
            await connection.commit()

        async def client(pool: AsyncConnectionPool) -> None:
            while waiting:
                question = waiting.pop()
                begun = time.perf_counter()
                await _searched(pool, question)
                taken.append(1000 * (time.perf_counter() - begun))

        async with AsyncConnectionPool(self._dsn, min_size=count, max_size=count, configure=prepare) as pool:
            await pool.wait()
            for question, _ in self._questions[:count]:  # each connection has planned once
                await _searched(pool, question)
            begun = time.perf_counter()
            await asyncio.gather(*(client(pool) for _ in range(count)))
        return {"per_second": round(len(taken) / (time.perf_counter() - begun), 1), **percentiles(taken)}


async def _searched(pool: AsyncConnectionPool, question: dict[str, Any]) -> None:
    async with pool.connection() as connection:
        await connection.execute("select set_config('app.organization_id', %s, true)", (str(question["organization"]),))
        await (await connection.execute(_SQL["search"], question)).fetchall()
