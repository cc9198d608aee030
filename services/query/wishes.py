"""Publishes wishes about sources, by the same contract as upstream, and waits until the ledger has taken them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Protocol
from uuid import UUID, uuid4

from schemas.codes import Code
from schemas.events import Event, Wish
from services.chassis.errors import DependencyDown, RequestRefused
from services.chassis.postgres import Postgres
from services.chassis.queries import load_queries
from services.query.settings import RequestSettings

_SQL = load_queries("services.query", "library.sql")

EVENT_SOURCE = "/kb/query"
"""CloudEvents source of this service's events: the process's publisher is made with it."""

_FIRST_LOOK, _LONGEST_PAUSE = 0.01, 0.05


class WishPublisher(Protocol):
    """What is needed of the broker's publisher."""

    async def publish(self, event: Event, *, id: str | None = None, time: datetime | None = None) -> None:
        """Returns when the broker has confirmed it. Raises EventRefused and DependencyDown."""
        ...


class Wishes:
    """Writes are wishes: what becomes of them, the ledger decides."""

    def __init__(self, publisher: WishPublisher, postgres: Postgres, settings: RequestSettings) -> None:
        self._publisher = publisher
        self._postgres = postgres
        self._settings = settings

    async def publish(self, wish: Wish, source: UUID, event_id: str | None) -> bool:
        """Publish, then wait a while. False: the ledger has not taken it yet, and will.

        An event with the same id is taken once. Raises DependencyDown(BROKER_DOWN), EventRefused, and
        RequestRefused(CONFLICT) where the id was used for another source before.
        """
        event_id = event_id or str(uuid4())
        try:
            async with asyncio.timeout(self._settings.publish_timeout):
                await self._publisher.publish(wish, id=event_id, time=datetime.now(UTC))
        except TimeoutError:
            raise DependencyDown(Code.BROKER_DOWN, "the broker did not confirm the event in time") from None
        parameters = {
            "organization": wish.organization_id,
            "event_source": EVENT_SOURCE,
            "event_id": event_id,
            "source": source,
        }
        async for _ in _looks(self._settings.intake_wait):
            async with self._postgres.transaction(wish.organization_id) as connection:
                cursor = await connection.execute(_SQL["taken"], parameters)
                is_taken, is_there = await cursor.fetchone() or (False, False)
            if is_taken and not is_there:
                raise RequestRefused(Code.CONFLICT, "the Idempotency-Key was used for something else", status=409)
            if is_taken:
                return True
        return False


async def _looks(seconds: float) -> AsyncIterator[None]:
    """Times to look, with growing pauses, until the seconds are over."""
    end, pause = time.monotonic() + seconds, _FIRST_LOOK
    while True:
        yield
        if time.monotonic() + pause > end:
            return
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, _LONGEST_PAUSE)
