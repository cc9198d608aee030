"""Wishes about the start hold for its pages; wishes about a page hold against the crawl."""

from __future__ import annotations

from typing import Any

from schemas.events.source import Crawl
from tests.integration.crawling.conftest import Crawler
from tests.support.site import asked, html, linking, serve

PAGES = {"/": ["a", "b"], "/a": ["c"], "/b": [], "/c": []}
ALL = ["/", "/a", "/b", "/c"]


async def crawled(crawler: Crawler, **fields: Any) -> None:
    serve(crawler.web, PAGES)
    await crawler.submit("/", crawl=Crawl(), **fields)
    await crawler.settle()
    assert crawler.ready() == ALL
    asked(crawler.web)


async def test_pages_inherit_the_fields_of_the_start(crawler: Crawler) -> None:
    given = {"description": "Manual.", "metadata": {"team": 1}, "is_public": False, "language": "de"}
    await crawled(crawler, title="The manual", source_type="automation", **given)
    query = "select distinct title, description, metadata, is_public, language, source_type from knowledge_source {}"
    expected = (None, *given.values(), "automation")
    assert crawler.tables.rows(query.format("where parent_id is not null")) == [expected]
    assert crawler.tables.row(query.format("where parent_id is null")) == ("The manual", *expected[1:])


async def test_publishing_and_archiving_the_start_holds_for_its_pages(crawler: Crawler) -> None:
    await crawled(crawler, is_public=False)
    await crawler.change("/", is_public=True)
    assert crawler.tables.rows("select distinct is_public from knowledge_source") == [(True,)]
    await crawler.change("/", archived=True)
    assert crawler.archived() == ALL
    await crawler.refresh("/a")
    await crawler.change("/", archived=False)
    await crawler.settle()
    assert crawler.ready() == ALL
    told = crawler.tables.rows(
        "select data ->> 'archived', count(*) from source_event where type = 'kb.source.archived.v1' group by 1"
    )
    assert dict(told) == {"true": 4, "false": 4}


async def test_a_later_wish_about_a_page_stands(crawler: Crawler) -> None:
    await crawled(crawler)
    await crawler.change("/", is_public=True)
    await crawler.change("/a", is_public=False)
    await crawler.refresh("/")
    query = "select url from knowledge_source where not is_public"
    assert crawler.tables.rows(query) == [(crawler.web.url("/a"),)]
    await crawler.change("/", is_public=True)
    assert not crawler.tables.rows(query)


async def test_pages_go_with_the_start_and_come_back_with_it(crawler: Crawler) -> None:
    await crawled(crawler)
    await crawler.remove("/")
    await crawler.settle()
    assert not crawler.sources()
    for table in ("chunk", "crawl", "crawl_page", "crawl_link"):
        assert crawler.tables.row(f"select count(*) from {table}") == (0,), table
    await crawler.crawl("/")
    assert crawler.ready() == ALL


async def test_a_page_that_was_removed_for_itself_stays_out(crawler: Crawler) -> None:
    await crawled(crawler)
    await crawler.remove("/a")
    await crawler.settle()
    for step in (crawler.refresh, crawler.crawl):
        await step("/")
        assert "/a" not in crawler.sources()
    await crawler.remove("/")
    await crawler.crawl("/")
    assert crawler.ready() == ["/", "/b"]
    await crawler.submit("/a")
    await crawler.settle()
    assert "/a" in crawler.ready()


async def test_an_older_removal_of_a_page_changes_nothing(crawler: Crawler) -> None:
    crawler.clock = 10
    await crawled(crawler)
    crawler.clock = 5
    await crawler.remove("/a")
    await crawler.settle()
    assert crawler.ready() == ALL


async def test_a_source_of_its_own_stays_its_own_and_is_followed(crawler: Crawler) -> None:
    serve(crawler.web, PAGES)
    await crawler.submit("/a", title="Mine", external_id="mine")
    await crawler.settle()
    await crawler.crawl("/")
    assert crawler.ready() == ALL
    query = "select title, external_id, parent_id from knowledge_source where url like '%%/a'"
    assert crawler.tables.row(query) == ("Mine", "mine", None)
    crawler.web.at("/", html(linking("nothing left")))
    await crawler.refresh("/")
    assert crawler.ready() == ["/", "/a"]
    await crawler.remove("/")
    await crawler.settle()
    assert crawler.ready() == ["/a"]


async def test_a_page_that_is_wished_for_becomes_its_own(crawler: Crawler) -> None:
    await crawled(crawler)
    await crawler.submit("/b", title="Mine")
    await crawler.settle()
    await crawler.remove("/")
    await crawler.settle()
    assert crawler.ready() == ["/b"]


async def test_without_the_crawl_its_pages_stay_as_sources(crawler: Crawler) -> None:
    await crawled(crawler)
    crawler.tables.rows("update knowledge_base set time_to_live = interval '1 hour'")
    await crawler.submit("/")
    await crawler.settle()
    assert crawler.ready() == ALL
    assert crawler.tables.row("select count(*) from knowledge_source where parent_id is null and due_at > now()") == (
        4,
    )
    assert crawler.tables.row("select count(*) from crawl_page") == (0,)


async def test_an_older_submit_without_a_crawl_does_not_end_it(crawler: Crawler) -> None:
    crawler.clock = 10
    await crawled(crawler)
    crawler.clock = 5
    await crawler.submit("/")
    assert crawler.tables.row("select count(*) from crawl") == (1,)


async def test_two_crawls_share_a_page(crawler: Crawler) -> None:
    serve(crawler.web, {"/": ["docs/"], "/docs/": ["a", "/docs/api/"], "/docs/a": [], "/docs/api/": ["x", "/docs/a"]})
    serve(crawler.web, {"/docs/api/x": []})
    await crawler.crawl("/docs/api/")
    await crawler.crawl("/")
    assert crawler.ready() == ["/", "/docs/", "/docs/a", "/docs/api/", "/docs/api/x"]
    await crawler.remove("/docs/api/")
    await crawler.settle()
    await crawler.refresh("/")
    assert crawler.ready() == ["/", "/docs/", "/docs/a", "/docs/api/x"], "what was wished away itself stays out"
