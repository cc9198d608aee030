"""Gives out due work, fairly among organizations, and tells upstream what has become of sources."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any

import structlog
from psycopg.rows import dict_row
from pydantic import ValidationError

from schemas.cloudevents import read_stored
from schemas.codes import Code
from schemas.events import SourceDue, SourceRemovalDue, SourceRetitled
from services.chassis import metrics
from services.chassis.broker import Publisher
from services.chassis.errors import DependencyDown
from services.chassis.postgres import Postgres
from services.chassis.queries import load_queries
from services.fetcher.settings import DispatchSettings
from services.ledger import Ledger
from services.ledger.settings import LedgerSettings

log = structlog.get_logger()

_SQL = load_queries("services.fetcher", "dispatch.sql")
_PAUSE_SECONDS = 1.0
_MOST_EVENTS = 500
_PRIORITY_NAMES = ("manual", "event", "promoted", "scheduled")


class Dispatcher:
    """Takes due rows of the ledger and publishes them. Any number of these may run."""

    def __init__(
        self,
        postgres: Postgres,
        publisher: Publisher,
        ledger: Ledger,
        settings: DispatchSettings,
        ledger_settings: LedgerSettings,
    ) -> None:
        self._postgres = postgres
        self._publisher = publisher
        self._ledger = ledger
        self._settings = settings
        self._lease = timedelta(seconds=ledger_settings.lease)
        self._lapses = ledger_settings.lapses
        self._hint = asyncio.Event()
        self._at_work = asyncio.Lock()
        self._stopped = False

    def hint(self) -> None:
        """Something has just become due: look at once."""
        self._hint.set()

    async def run(self) -> None:
        """Give out work until cancelled. While a dependency is down, wait for it."""
        while not self._stopped:
            try:
                async with self._at_work:
                    pause = await self.turn()
            except DependencyDown as error:
                log.warning("dispatch waits", code=error.code, reason=error.reason)
                pause = _PAUSE_SECONDS
            if pause:
                await self._wait(pause)
        await asyncio.Event().wait()

    async def stop(self) -> None:
        """Take no more rows, and give out those that are taken: else they would wait for their lease."""
        self._stopped = True
        async with self._at_work:
            pass

    async def turn(self) -> float:
        """Give out what may be given out now. Gives the seconds to wait before the next look."""
        self._hint.clear()
        ((free, due),) = await self._postgres.fetch(_SQL["room"], {"all": self._settings.in_flight_total})
        if not due:
            return self._settings.poll
        given = await self._take() if free > 0 else []
        await asyncio.gather(*(self._give(row) for row in given))
        return 0.0 if given else self._settings.busy_poll

    async def _take(self) -> list[dict[str, Any]]:
        async with self._postgres.transaction() as connection:
            await connection.execute(_SQL["one_at_a_time"])
            await connection.execute(_SQL["hold"], {"lease": self._lease})
            cursor = connection.cursor(row_factory=dict_row)
            await cursor.execute(
                _SQL["take_turns"],
                {"each": self._settings.in_flight, "all": self._settings.in_flight_total, "lease": self._lease},
            )
            return await cursor.fetchall()

    async def _give(self, row: dict[str, Any]) -> None:
        priority, lapses, deleted = row.pop("priority"), row.pop("lapses"), row.pop("deleted")
        if row.pop("lacks_links"):
            # A crawl that does not know the links of the live body needs the body again.
            row |= {"etag": None, "last_modified": None}
        try:
            work = SourceRemovalDue.model_validate(row) if deleted else SourceDue.model_validate(row)
        except ValidationError as error:
            # A row that no event can carry must not stand in the way of the others.
            await self._ledger.fail(_bare(row), Code.EVENT_INVALID, str(error))
            return
        if lapses:
            metrics.LAPSED.inc()
        if lapses > self._lapses and not deleted:
            await self._ledger.fail(work, Code.LEASE_LOST, f"{lapses} leases in a row ran out without progress")
            return
        metrics.DISPATCHED.labels(_PRIORITY_NAMES[priority]).inc()
        while not self._stopped:
            try:
                await self._publisher.publish(work)
                return
            except DependencyDown as error:
                # The row is taken: until the event is out, or the process ends and the lease runs out, it is ours.
                log.warning("dispatch waits", code=error.code, reason=error.reason)
                await asyncio.sleep(_PAUSE_SECONDS)

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._hint.wait()
        except TimeoutError:
            pass

    async def look_after(self) -> None:
        """Bring the gauge of due sources up to date, and keep lost changes of titles from staying lost."""
        ((count,),) = await self._postgres.fetch(_SQL["count_due"])
        metrics.DUE.set(count)
        await self.ask_again_for_titles()

    async def ask_again_for_titles(self) -> int:
        """Publish again what the indexer has not followed within a lease. Gives the number of sources."""
        async with self._postgres.transaction() as connection:
            cursor = connection.cursor(row_factory=dict_row)
            await cursor.execute(_SQL["retitled"], {"lease": self._lease, "most": _MOST_EVENTS})
            rows = await cursor.fetchall()
        await asyncio.gather(*(self._publisher.publish(SourceRetitled.model_validate(row)) for row in rows))
        return len(rows)


class Announcer:
    """Publishes what has become of sources: each row of `source_event` at least once, in the order of its source."""

    def __init__(self, postgres: Postgres, publisher: Publisher, poll: float) -> None:
        self._postgres = postgres
        self._publisher = publisher
        self._poll = poll

    async def run(self) -> None:
        """Publish until cancelled. While a dependency is down, wait for it."""
        while True:
            try:
                pause = 0.0 if await self.turn() else self._poll
            except DependencyDown as error:
                log.warning("announcing waits", code=error.code, reason=error.reason)
                pause = _PAUSE_SECONDS
            if pause:
                await asyncio.sleep(pause)

    async def turn(self) -> int:
        """Publish the oldest events that upstream has not been told. Gives how many they were."""
        async with self._postgres.transaction() as connection:
            if not (await (await connection.execute(_SQL["one_announcer"])).fetchone() or (False,))[0]:
                return 0
            rows = await (await connection.execute(_SQL["unpublished"], {"most": _MOST_EVENTS})).fetchall()
            # The producer keeps the order in which sends begin, so events of one source stay in theirs.
            await asyncio.gather(
                *(self._tell(str(id_), type_, data, occurred_at) for _, _, id_, type_, data, occurred_at in rows)
            )
            if rows:
                organizations, sources, ids = zip(*(row[:3] for row in rows), strict=True)
                await connection.execute(
                    _SQL["published"],
                    {"organizations": list(organizations), "sources": list(sources), "ids": list(ids)},
                )
            return len(rows)

    async def _tell(self, id: str, type: str, data: object, time: datetime) -> None:
        try:
            event = read_stored(type, data)
        except ValidationError:
            log.exception("what has become of a source can't be told", event_id=id, data=data)
            return
        await self._publisher.publish(event, id=id, time=time)


def _bare(row: dict[str, Any]) -> SourceRemovalDue:
    """The row's key, in the form that the ledger takes."""
    return SourceRemovalDue(**{name: row[name] for name in ("organization_id", "source_id", "revision")})
