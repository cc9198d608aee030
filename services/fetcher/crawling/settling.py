"""Looks at crawls when their last page has come: adds what there is room for, and archives what has gone."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import structlog

from schemas.events import SourceArchived
from services.chassis.postgres import Connection, Postgres
from services.chassis.queries import load_queries

log = structlog.get_logger()

_PAGES_SQL = load_queries("services.fetcher.crawling", "pages.sql")
_SQL = load_queries("services.fetcher.crawling", "settling.sql")
_MOST_CRAWLS = 100
_FEW_PAGES = 10
"""Of so few a site may well lose most."""


class Settling:
    """The background look. Any number of these may run."""

    def __init__(self, postgres: Postgres) -> None:
        self._postgres = postgres

    async def look(self) -> int:
        """Look at all crawls that no page is on its way of. Gives the number of those that are settled now."""
        found = await self._postgres.fetch(_SQL["unsettled"], {"most": _MOST_CRAWLS})
        return sum([await self._settle(organization, root) for organization, root in found])

    async def _settle(self, organization: UUID, root: UUID) -> bool:
        async with self._postgres.transaction() as connection:
            look = _Look(connection, organization, root)
            row = await look.one("lock")
            # Asked again under the lock: a page may just have been added.
            if row is None or await look.one("is_under_way") == (True,):
                return False
            return await look.settle(is_ready=row[0], was_doubted=row[1])


class _Look:
    """One transaction about one crawl."""

    def __init__(self, connection: Connection, organization: UUID, root: UUID) -> None:
        self._connection = connection
        self._key = {"organization": organization, "root": root, "told_type": SourceArchived.type}

    async def settle(self, *, is_ready: bool, was_doubted: bool) -> bool:
        """False: pages have been added, or are asked for again; the crawl goes on. Without a ready start none goes."""
        while (await self.run("come_nearer")).rowcount:
            pass
        ids = [row[0] for row in await (await self.run("reached")).fetchall()]
        adopted = await self._connection.execute(_PAGES_SQL["adopt"], {**self._key, "ids": ids, "keeps_places": False})
        asked_again = await self.run("ask_again", ids=ids)
        if adopted.rowcount or asked_again.rowcount:
            return False
        await self.run("show", ids=await self._pages("back", ids), archived=False)
        is_doubted = False
        if is_ready and await self.one("is_complete") == (True,):
            gone = await self._pages("gone", ids)
            is_doubted = not was_doubted and await self._is_doubtful(len(gone))
            if not is_doubted:
                await self.run("show", ids=gone, archived=True)
                await self.run("forget", ids=ids)
            log.info("crawl settled", root=str(self._key["root"]), gone=len(gone), doubted=is_doubted)
        await self.run("settle", doubted=is_doubted)
        return True

    async def _pages(self, query: str, reached: list[UUID]) -> list[UUID]:
        return [row[0] for row in await (await self.run(query, ids=reached)).fetchall()]

    async def _is_doubtful(self, gone: int) -> bool:
        """A site that has lost most of its pages is more likely to be under maintenance than to be given up."""
        (shown,) = await self.one("shown")
        return gone >= _FEW_PAGES and 2 * gone > shown

    async def run(self, query: str, **parameters: Any) -> Any:
        """Execute a statement of the look."""
        return await self._connection.execute(_SQL[query], {**self._key, **parameters})

    async def one(self, query: str) -> Any:
        """The first row of a statement, or None."""
        return await (await self.run(query)).fetchone()
