"""A crawl with everything but the broker and the model: a served site, the real fetcher, the real ledger."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from hashlib import sha256
from ipaddress import ip_network
from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.events import SourceMetadataChanged, SourceRefreshRequested, SourceRemoved, SourceSubmitted
from schemas.events.source import Crawl
from services.chassis.postgres import Postgres
from services.chunker.blocks import Locator
from services.chunker.chunking import Chunk
from services.chunker.job import ChunkedDocument
from services.chunker.stage import Chunking
from services.fetcher.crawling.crawl import Crawling
from services.fetcher.crawling.settling import Settling
from services.fetcher.crawling.sitemaps import Sitemaps
from services.fetcher.fetching import Fetching
from services.fetcher.http.fetching import DirectFetcher
from services.fetcher.http.settings import FetchSettings
from services.ledger.settings import LedgerSettings
from tests.support.migrated import Tables, migrated, migrated_template, postgres, tables
from tests.support.rooms import Rooms
from tests.support.web import WebServer

__all__ = ["migrated", "migrated_template", "postgres", "tables"]


class OneChunkPool:
    """Makes of each body one chunk, which is its digest."""

    async def parse_and_chunk(self, body: bytes, **_: Any) -> ChunkedDocument:
        text = sha256(body).hexdigest()
        chunk = Chunk(0, text, 1, (), Locator(), 0, len(text), text)
        return ChunkedDocument(None, "text/html", "utf-8", "en", text, [], [chunk])


@dataclass
class Crawler:
    """The stages, and what a publisher says. A failure that may pass is one for good at once."""

    rooms: Rooms
    tables: Tables
    web: WebServer
    settling: Settling
    organization: UUID = field(default_factory=uuid4)
    clock: int = 0

    async def crawl(self, path: str = "/", **rules: Any) -> None:
        """Wish for a site and let everything happen."""
        await self.submit(path, crawl=Crawl(**rules))
        await self.settle()

    async def submit(self, path: str = "/", **fields: Any) -> None:
        """Wish for a page."""
        await self._wish(SourceSubmitted, path, kind="url", **fields)

    async def refresh(self, path: str = "/") -> None:
        """Wish that it be read again, and let everything happen."""
        await self._wish(SourceRefreshRequested, path)
        await self.settle()

    async def change(self, path: str = "/", **fields: Any) -> None:
        """Wish for other fields of it."""
        await self._wish(SourceMetadataChanged, path, **fields)

    async def remove(self, path: str = "/") -> None:
        """Wish that it be gone."""
        await self._wish(SourceRemoved, path)

    async def _wish(self, wish: Any, path: str, **fields: Any) -> None:
        self.clock += 1
        event = wish(organization_id=self.organization, url=self.web.url(path), **fields)
        await self.rooms.deliver(event, time=self.clock)

    async def step(self) -> None:
        """Give out what is due now, and let everything come of it."""
        await self.rooms.dispatcher.turn()
        while waiting := self.rooms.publisher.waiting:
            await self.rooms.deliver(self.rooms.publisher.take(waiting[0]).event)

    async def settle(self) -> None:
        """Until nothing is due and no crawl goes on."""
        for _ in range(50):
            await self.rooms.settle()
            await self.settling.look()
            waiting = "due_at <= now() and (archived_at is null or vanished_at is not null)"
            if self.tables.row(f"select count(*) from knowledge_source where {waiting}") == (0,):
                return
        raise AssertionError("the crawl does not come to an end")

    def sources(self, where: str = "archived_at is null and deleted_at is null") -> dict[str, str]:
        """The status of each source by its path."""
        rows = self.tables.rows(
            f"select url, status from knowledge_source where organization_id = %s and {where}", self.organization
        )
        return {url.removeprefix(self.web.url("")): status for url, status in rows}

    def ready(self) -> list[str]:
        """The paths of all sources that searches see; there is nothing else."""
        found = self.sources()
        assert set(found.values()) <= {"ready"}, found
        return sorted(found)

    def archived(self) -> list[str]:
        """The paths of what is archived."""
        return sorted(self.sources("archived_at is not null and deleted_at is null"))


def rooms_on_the_web(postgres: Postgres, fetcher: DirectFetcher) -> Rooms:
    """Stages that fetch."""
    rooms = Rooms(postgres, ledger=LedgerSettings(attempts=1))
    pool: Any = OneChunkPool()
    rooms.chunking = Chunking(rooms.blobs, rooms.publisher, pool, 200_000)
    crawling = Crawling(postgres, fetcher.robots, Sitemaps(fetcher, fetcher.robots))
    rooms.fetching = Fetching(postgres, rooms.blobs, rooms.publisher, fetcher, crawling)
    return rooms


@pytest.fixture
async def web() -> AsyncIterator[WebServer]:
    async with WebServer() as server:
        yield server


@pytest.fixture
async def crawler(postgres: Postgres, tables: Tables, web: WebServer) -> AsyncIterator[Crawler]:
    settings = FetchSettings(allow_networks=(ip_network("127.0.0.0/8"),), host_delay_seconds=0)
    async with DirectFetcher(settings) as fetcher:
        rooms = rooms_on_the_web(postgres, fetcher)
        await rooms.store.register()
        yield Crawler(rooms, tables, web, Settling(postgres))
