"""Things that happen at the same time, or again."""

from __future__ import annotations

import asyncio
from typing import Any

from schemas.events import SourceDue
from schemas.events.source import Crawl
from tests.integration.crawling.conftest import Crawler
from tests.support.site import serve


async def due(crawler: Crawler) -> list[Any]:
    """What the dispatcher gives out now."""
    await crawler.rooms.dispatcher.turn()
    publisher = crawler.rooms.publisher
    return [publisher.take(message) for message in list(publisher.waiting) if isinstance(message.event, SourceDue)]


async def test_pages_that_find_the_same_page_at_the_same_time_add_it_once(crawler: Crawler) -> None:
    names = [f"/p{n}" for n in range(6)]
    serve(crawler.web, {"/": names, **{name: ["/x", "/y", *names] for name in names}, "/x": [], "/y": []})
    await crawler.submit("/", crawl=Crawl())
    await crawler.step()
    await asyncio.gather(*(crawler.rooms.deliver(message.event) for message in await due(crawler)))
    assert crawler.tables.row("select count(*) from knowledge_source") == (9,)
    await crawler.settle()
    assert crawler.ready() == sorted(["/", *names, "/x", "/y"])


async def test_the_limit_holds_for_pages_that_come_at_the_same_time(crawler: Crawler) -> None:
    names = [f"/p{n}" for n in range(6)]
    pages = {name: [f"{name}/{n}" for n in range(10)] for name in names}
    serve(crawler.web, {"/": names, **pages, **{link: [] for links in pages.values() for link in links}})
    await crawler.submit("/", crawl=Crawl(max_pages=20))
    await crawler.step()
    await asyncio.gather(*(crawler.rooms.deliver(message.event) for message in await due(crawler)))
    await crawler.settle()
    assert len(crawler.ready()) == 20


async def test_equal_pages_that_come_at_the_same_time_become_one(crawler: Crawler) -> None:
    from tests.support.site import html, linking

    names = [f"/p{n}" for n in range(6)]
    serve(crawler.web, {"/": names})
    for name in names:
        crawler.web.at(name, html(linking("all the same")))
    await crawler.submit("/", crawl=Crawl())
    await crawler.step()
    await asyncio.gather(*(crawler.rooms.deliver(message.event) for message in await due(crawler)))
    await crawler.settle()
    assert crawler.ready() == ["/", "/p0"]


async def test_a_start_that_is_removed_meanwhile_makes_no_pages(crawler: Crawler) -> None:
    serve(crawler.web, {"/": ["a"], "/a": ["b"], "/b": []})
    await crawler.submit("/", crawl=Crawl())
    await crawler.step()
    [page] = await due(crawler)
    await crawler.remove("/")
    await crawler.rooms.deliver(page.event)
    await crawler.settle()
    assert crawler.tables.rows("select status, count(*) from knowledge_source group by 1") == [("deleted", 2)]


async def test_a_removal_while_pages_come_leaves_none(crawler: Crawler) -> None:
    names = [f"/p{n}" for n in range(6)]
    serve(crawler.web, {"/": names, **{name: [f"{name}/more"] for name in names}})
    await crawler.submit("/", crawl=Crawl())
    await crawler.step()
    pages = await due(crawler)
    await asyncio.gather(*(crawler.rooms.deliver(page.event) for page in pages), crawler.remove("/"))
    await crawler.settle()
    assert not crawler.sources()


async def test_a_page_that_is_delivered_twice_changes_nothing(crawler: Crawler) -> None:
    serve(crawler.web, {"/": ["a"], "/a": ["b"], "/b": []})
    await crawler.submit("/", crawl=Crawl())
    for _ in range(3):
        for message in await due(crawler):
            await crawler.rooms.deliver(message.event)
            await crawler.rooms.deliver(message.event)
    await crawler.settle()
    assert crawler.ready() == ["/", "/a", "/b"]
    assert crawler.tables.rows("select distinct revision from knowledge_source") == [(1,)]


async def test_a_refresh_in_the_middle_starts_over(crawler: Crawler) -> None:
    serve(crawler.web, {"/": ["a"], "/a": ["b"], "/b": []})
    await crawler.submit("/", crawl=Crawl())
    await crawler.step()
    await crawler.refresh("/")
    assert crawler.ready() == ["/", "/a", "/b"]


async def test_several_looks_at_a_time_settle_a_crawl_once(crawler: Crawler) -> None:
    serve(crawler.web, {"/": ["a"], "/a": []})
    await crawler.submit("/", crawl=Crawl())
    await crawler.rooms.settle()
    settled = await asyncio.gather(*(crawler.settling.look() for _ in range(5)))
    assert sum(settled) == 1
