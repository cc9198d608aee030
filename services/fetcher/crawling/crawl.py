"""The part of crawls that comes with the fetch of each page."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from schemas.codes import Code
from schemas.events import SourceDue
from services.chassis.errors import SourceRefused
from services.chassis.postgres import Postgres
from services.fetcher.crawling.findings import Finding, finding_of, in_scope
from services.fetcher.crawling.links import Links, is_html, links_of
from services.fetcher.crawling.outside import Robots, is_gone
from services.fetcher.crawling.scope import Scope, scope_of
from services.fetcher.crawling.sitemaps import Listing, Sitemaps
from services.fetcher.crawling.store import CrawlOfPage, Crawls
from services.fetcher.http.answers import Fetched

_NOTHING_LISTED = Listing([], False)


class Crawling:
    """Takes in what pages of crawls tell. Methods raise RetryLater and DependencyDown."""

    def __init__(self, postgres: Postgres, robots: Robots, sitemaps: Sitemaps) -> None:
        self._crawls = Crawls(postgres)
        self._robots = robots
        self._sitemaps = sitemaps

    async def found(self, due: SourceDue, page: Fetched) -> bool:
        """The page came. False: it is no page of its own, and nothing is to be done with it."""
        links = Links(page.url_final)
        if is_html(page.media_type, page.body):
            links = await asyncio.to_thread(links_of, page.body, page.charset, page.url_final)
        is_kept = True
        for crawl in await self._crawls.of_page(due):
            if (scope := _scope(crawl, due, page.url_final)) is None:
                continue
            # Thousands of links take a while, and others wait meanwhile.
            finding = await self._allowed(await asyncio.to_thread(_finding, crawl, scope, due, page, links))
            is_kept &= await self._crawls.record(due, crawl, scope, finding, await self._listing(due, crawl, scope))
        return is_kept

    async def stands(self, due: SourceDue, final: str) -> None:
        """The page is as it was: so are its links. Only the sitemap of a start is read."""
        for crawl in await self._crawls.of_page(due):
            if scope := _scope(crawl, due, final):
                listing = await self._listing(due, crawl, scope)
                await self._crawls.record(due, crawl, scope, None, listing)

    async def refused(self, due: SourceDue, error: SourceRefused) -> None:
        """The page can't be had. A start that can't be had says nothing about its site."""
        for crawl in await self._crawls.of_page(due):
            if crawl.root_id == due.source_id or (scope := _scope(crawl, due, due.url or "")) is None:
                continue
            seen = Finding("gone") if is_gone(error) else Finding("refused")
            if error.code == Code.ROBOTS_DENIED and due.body_hash is None:
                seen = Finding("unlisted")
            await self._crawls.record(due, crawl, scope, seen, _NOTHING_LISTED)

    async def _allowed(self, finding: Finding) -> Finding:
        allowed = tuple([link for link in finding.links if await self._robots.allowed(link)])
        if finding.same_as and finding.same_as not in allowed:
            return Finding("there", allowed, body_hash=finding.body_hash)
        return replace(finding, links=allowed)

    async def _listing(self, due: SourceDue, crawl: CrawlOfPage, scope: Scope) -> Listing:
        if crawl.root_id != due.source_id:
            return _NOTHING_LISTED
        listing = await self._sitemaps.listing(scope)
        return Listing([page for page in listing.pages if await self._robots.allowed(page)], listing.is_whole)


def _finding(crawl: CrawlOfPage, scope: Scope, due: SourceDue, page: Fetched, links: Links) -> Finding:
    if crawl.is_child:
        return finding_of(scope, due.url or "", page.url_final, links, page.sha256)
    return Finding("there", tuple(in_scope(scope, links)), body_hash=page.sha256)


def _scope(crawl: CrawlOfPage, due: SourceDue, final: str) -> Scope | None:
    """None for a page of a crawl whose start has not come yet."""
    reached = final if crawl.root_id == due.source_id else crawl.final_url
    return scope_of(crawl.start, reached, crawl.prefix) if reached else None
