"""Notes searches beside their answers: a bounded queue, written in batches, that never delays or fails an answer."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Sequence
from functools import partial
from itertools import groupby, islice
from operator import itemgetter
from uuid import UUID

import psycopg
import structlog
from psycopg.types.json import Jsonb

from schemas.codes import Code
from services.chassis import metrics
from services.chassis.errors import DependencyDown
from services.chassis.postgres import Connection, Postgres
from services.chassis.queries import load_queries
from services.query.access import Principal
from services.query.query_log.entries import Entry, Question, entry_of
from services.query.search import Answer
from services.query.settings import QueryLogSettings

log = structlog.get_logger()

_SQL = load_queries("services.query.query_log", "query_log.sql")
_ORGANIZATION = itemgetter("organization_id")
_BATCH = 200


class QueryLog:
    """The writing side. Rows wait while Postgres is away; those that find the queue full are dropped and counted."""

    def __init__(
        self, postgres: Postgres, settings: QueryLogSettings, public_organization: UUID | None, *, is_on: bool
    ) -> None:
        """`postgres` is not the pool that answers are read with: a log that hangs keeps its connection."""
        self._postgres = postgres
        self._settings = settings
        self._public_organization = public_organization
        self._is_on = is_on
        self._waiting: deque[Entry] = deque()
        self._arrived = asyncio.Event()

    def note(self, principal: Principal, question: Question, answer: Answer, took_ms: float) -> None:
        """Put a search that was answered in the queue."""
        if not self._is_on:
            return
        if len(self._waiting) >= self._settings.waiting:
            metrics.QUERY_LOG.labels("dropped").inc()
            return
        self._waiting.append(entry_of(principal, question, answer, took_ms, with_text=self._settings.text))
        metrics.QUERY_LOG_WAITING.set(len(self._waiting))
        self._arrived.set()

    async def run(self) -> None:
        """Write what comes, until cancelled."""
        while True:
            await self._arrived.wait()
            await asyncio.sleep(self._settings.pause)  # in which a batch gathers
            try:
                await self.flush()
            except DependencyDown as error:
                log.warning("the query log waits", code=error.code, reason=error.reason, rows=len(self._waiting))
                await asyncio.sleep(self._settings.retry_pause)

    async def flush(self) -> None:
        """Write all that waits. Raises DependencyDown; what was not written then still waits."""
        while self._waiting:
            batch = sorted(islice(self._waiting, _BATCH), key=_ORGANIZATION)
            for organization_id, entries in groupby(batch, key=_ORGANIZATION):
                await self._write(organization_id, list(entries))
            for _ in batch:
                self._waiting.popleft()
            metrics.QUERY_LOG_WAITING.set(len(self._waiting))
        self._arrived.clear()

    async def drain(self) -> None:
        """Write what waits at a stop, as far as the deadline allows."""
        try:
            async with asyncio.timeout(self._settings.drain_timeout):
                await self.flush()
        except (DependencyDown, TimeoutError) as error:
            log.warning("searches are not in the log", rows=len(self._waiting), reason=str(error) or "no time left")
            metrics.QUERY_LOG.labels("dropped").inc(len(self._waiting))
            self._waiting.clear()

    async def _write(self, organization_id: UUID, entries: list[Entry]) -> None:
        outcome = "written"
        try:
            async with self._postgres.transaction(organization_id) as connection:
                rows = Jsonb(entries, dumps=partial(json.dumps, default=str))
                used = await (await connection.execute(_SQL["write"], {"rows": rows})).fetchall()
                await self._count(connection, organization_id, used)
        except psycopg.errors.CheckViolation as error:
            raise DependencyDown(Code.POSTGRES_DOWN, f"the month has no partition: {error}") from error
        except psycopg.Error as error:
            log.error("the query log was refused", reason=str(error), rows=len(entries))
            outcome = "refused"
        metrics.QUERY_LOG.labels(outcome).inc(len(entries))

    async def _count(self, connection: Connection, organization_id: UUID, used: Sequence[tuple[object, ...]]) -> None:
        """`used` is source, day, times. Sources of public knowledge bases are counted where they belong."""
        sources, days, times = ([row[at] for row in used] for at in range(3))
        for owner in dict.fromkeys((organization_id, self._public_organization or organization_id)):
            await connection.execute("select set_config('app.organization_id', %s, true)", (str(owner),))
            parameters = {"organization": owner, "sources": sources, "days": days, "times": times}
            await connection.execute(_SQL["count"], parameters)
