"""Keeps up what searches are planned by, beside the indexing and without getting in its way."""

from __future__ import annotations

import asyncio

import structlog

from services.chassis.errors import DependencyDown
from services.chassis.postgres import Postgres
from services.chassis.queries import load_queries

log = structlog.get_logger()

_SQL = load_queries("services.indexer", "upkeep.sql")

LEAST_CHUNKS = 2_000
"""Below it the words of a query are counted when it is asked, which is as quick."""


class Upkeep:
    """Refreshes the statistics of words of organizations that have changed."""

    def __init__(self, postgres: Postgres, pause: float, least_chunks: int = LEAST_CHUNKS) -> None:
        """`pause` is the number of seconds between two looks."""
        self._postgres = postgres
        self._pause = pause
        self._least = least_chunks

    async def run(self) -> None:
        """Look now and then, until cancelled."""
        while True:
            try:
                await self.turn()
            except DependencyDown as error:
                log.warning("upkeep waits", code=error.code, reason=error.reason)
            await asyncio.sleep(self._pause)

    async def turn(self) -> int:
        """Refresh what is stale. Gives the number of organizations."""
        stale = await self._postgres.fetch(_SQL["stale"], {"least": self._least})
        for (organization,) in stale:
            # One transaction each: searches go on with the old numbers meanwhile.
            async with self._postgres.transaction() as connection:
                await connection.execute(_SQL["refresh"], {"organization": organization})
        async with self._postgres.transaction() as connection:
            await connection.execute(_SQL["forget_pauses"])
        return len(stale)
