"""Writes what pages tell: links, new pages, and what has become of an address, in one transaction for each crawl."""

from __future__ import annotations

from typing import Any, NamedTuple
from uuid import UUID

from schemas.events import SourceDue
from schemas.identifiers import source_id
from services.chassis.postgres import Connection, Postgres
from services.chassis.queries import load_queries
from services.fetcher.crawling.findings import Finding
from services.fetcher.crawling.scope import Scope
from services.fetcher.crawling.sitemaps import Listing

_SQL = load_queries("services.fetcher.crawling", "pages.sql")


class CrawlOfPage(NamedTuple):
    """A crawl that a page is part of. final_url: where its start led to. is_child: the crawl brought the page in."""

    root_id: UUID
    knowledge_base_id: UUID
    start: str
    final_url: str | None
    prefix: str | None
    is_child: bool


class Crawls:
    """The tables of crawls, as the fetch of a page sees them."""

    def __init__(self, postgres: Postgres) -> None:
        self._postgres = postgres

    async def of_page(self, due: SourceDue) -> list[CrawlOfPage]:
        """All crawls that have found the page."""
        key = {"organization": due.organization_id, "source": due.source_id}
        return [CrawlOfPage(*row) for row in await self._postgres.fetch(_SQL["crawls_of"], key)]

    async def record(
        self, due: SourceDue, crawl: CrawlOfPage, scope: Scope, finding: Finding | None, listing: Listing
    ) -> bool:
        """Write what was found; None: the page is as it was. False: the address is no page of its own.

        Nothing is written once the crawl has ended or the revision is not wanted any more.
        """
        async with self._postgres.transaction() as connection:
            writing = _Writing(connection, due, crawl, scope)
            depth = await writing.lock()
            if depth is None:
                return True
            if crawl.root_id == due.source_id:
                await writing.begin()
                await writing.listed(listing)
            if finding is None:
                await writing.saw("there")
                return True
            return await writing.find(finding, depth)


class _Writing:
    """One transaction about one page of one crawl."""

    def __init__(self, connection: Connection, due: SourceDue, crawl: CrawlOfPage, scope: Scope) -> None:
        self._connection = connection
        self._crawl = crawl
        self._scope = scope
        self._has_content = due.body_hash is not None
        self._key: dict[str, Any] = {
            "organization": due.organization_id,
            "root": crawl.root_id,
            "source": due.source_id,
            "revision": due.revision,
            "base": crawl.knowledge_base_id,
        }

    async def lock(self) -> int | None:
        """The depth of the page, or None where nothing is to be written."""
        row = await self._one("lock")
        return None if row is None else row[0]

    async def begin(self) -> None:
        """The start came: where this is its first time in this revision, all pages are due."""
        if await self._one("begin", final_url=self._scope.final):
            await self._run("refresh_pages")

    async def listed(self, listing: Listing) -> None:
        """Pages of the sitemap are one step from the start."""
        await self._link(dict.fromkeys(listing.pages, 1), in_sitemap=True, is_whole=listing.is_whole)

    async def find(self, finding: Finding, depth: int) -> bool:
        """Write what the address is and leads to. False: it is no page of its own."""
        seen, twin = finding.seen, await self._twin(finding)
        if twin is not None:
            seen = "duplicate"
        elif finding.same_as:
            seen = "there"
        await self.saw(seen, twin, finding.body_hash)
        if seen != "refused":
            # Another address of the same page is as near as this one.
            links = {url: depth if url == finding.same_as else depth + 1 for url in finding.links}
            await self._link(links, in_sitemap=False, is_whole=True)
        if seen in {"there", "refused"} or not self._crawl.is_child:
            return True
        await self._run("drop_page")
        if seen != "gone":  # that is a failure, which the ledger is told of
            await self._run("let_stand")
        return False

    async def saw(self, seen: str, duplicate_of: UUID | None = None, body_hash: str | None = None) -> None:
        """Note what has become of the address."""
        await self._run("saw", seen=seen, duplicate_of=duplicate_of, body_hash=body_hash)

    async def _twin(self, finding: Finding) -> UUID | None:
        """The page that this address is only another name of."""
        if finding.same_as:
            [other] = await self._known([finding.same_as])
            is_none = not finding.is_certain and await self._one("is_no_page", page=other)
            return None if is_none else other
        if not self._crawl.is_child or finding.seen != "there" or self._has_content:
            return None
        row: tuple[UUID, bool] | None = await self._one("twin", body_hash=finding.body_hash)
        if row is None:
            return None
        other, is_worse = row
        if is_worse:
            await self._run("displace", page=other)
        return None if is_worse else other

    async def _link(self, depths: dict[str, int], *, in_sitemap: bool, is_whole: bool) -> None:
        urls = [url for url in depths if url != self._scope.start]
        ids = await self._known(urls)
        if is_whole:
            await self._run("drop_links", ids=ids, in_sitemap=in_sitemap)
        if not urls:
            return
        rows = await self._all("find", ids=ids, urls=urls, depths=[depths[url] for url in urls])
        await self._run("add_links", ids=ids, in_sitemap=in_sitemap)
        await self._run("wake", ids=[page for page, is_new in rows if is_new])
        await self._run("adopt", ids=ids, keeps_places=True)

    async def _known(self, urls: list[str]) -> list[UUID]:
        organization, base = self._key["organization"], self._crawl.knowledge_base_id
        ids = [source_id(organization, base, "url", url) for url in urls]
        found = [row[0] for row in await self._all("known", ids=ids, urls=urls)] if urls else []
        return [self._crawl.root_id if url == self._scope.start else id_ for url, id_ in zip(urls, found, strict=True)]

    async def _run(self, query: str, **parameters: Any) -> Any:
        return await self._connection.execute(_SQL[query], {**self._key, **parameters})

    async def _one(self, query: str, **parameters: Any) -> Any:
        return await (await self._run(query, **parameters)).fetchone()

    async def _all(self, query: str, **parameters: Any) -> Any:
        return await (await self._run(query, **parameters)).fetchall()
