"""What has gone is archived, once it is certain; what comes back is brought back."""

from __future__ import annotations

import pytest

from tests.integration.crawling.conftest import Crawler
from tests.support.site import asked, html, linking, serve
from tests.support.web import redirect, status

PAGES = {"/": ["a", "b"], "/a": ["c"], "/b": [], "/c": ["d"], "/d": []}


async def crawled(crawler: Crawler) -> None:
    serve(crawler.web, PAGES)
    await crawler.crawl("/")
    assert crawler.ready() == ["/", "/a", "/b", "/c", "/d"]
    asked(crawler.web)


def revisions(crawler: Crawler) -> dict[str, int]:
    rows = crawler.tables.rows("select url, revision from knowledge_source where deleted_at is null")
    return {url.removeprefix(crawler.web.url("")): revision for url, revision in rows}


async def test_a_refresh_reads_every_page_once_and_writes_nothing_that_did_not_change(crawler: Crawler) -> None:
    await crawled(crawler)
    query = "select id, xmin::text from chunk union all select page_id, xmin::text from crawl_link order by 1, 2"
    before = crawler.tables.rows(query)
    await crawler.refresh("/")
    assert sorted(asked(crawler.web)) == sorted(PAGES)
    assert crawler.tables.rows(query) == before
    assert set(revisions(crawler).values()) == {2}
    assert len(crawler.ready()) == 5


async def test_what_vanished_is_archived_alone_and_comes_back(crawler: Crawler) -> None:
    await crawled(crawler)
    crawler.web.at("/b", status(404))
    await crawler.refresh("/")
    assert crawler.archived() == ["/b"]
    assert crawler.ready() == ["/", "/a", "/c", "/d"]
    told = crawler.tables.rows("select data ->> 'archived' from source_event where type = 'kb.source.archived.v1'")
    assert told == [("true",)]
    asked(crawler.web)
    await crawler.refresh("/")
    assert asked(crawler.web).count("/b") == 1, "it is looked at, for something leads to it"
    assert crawler.archived() == ["/b"]
    serve(crawler.web, {"/b": []})
    await crawler.refresh("/")
    assert crawler.ready() == ["/", "/a", "/b", "/c", "/d"]
    assert not crawler.archived()
    await crawler.refresh("/")
    assert len(crawler.ready()) == 5


async def test_what_nothing_leads_to_any_more_is_archived_with_all_behind_it(crawler: Crawler) -> None:
    await crawled(crawler)
    serve(crawler.web, {"/a": []})
    crawler.web.at("/a", html(linking("/a without c")))
    await crawler.refresh("/")
    assert crawler.archived() == ["/c", "/d"]
    asked(crawler.web)
    await crawler.refresh("/")
    assert sorted(asked(crawler.web)) == ["/", "/a", "/b"]
    serve(crawler.web, {"/a": ["c"]})
    await crawler.refresh("/")
    assert len(crawler.ready()) == 5


@pytest.mark.parametrize("code", [500, 503, 429])
async def test_one_page_that_can_not_be_had_now_and_nothing_is_archived(crawler: Crawler, code: int) -> None:
    await crawled(crawler)
    crawler.web.at("/b", status(404))
    crawler.web.at("/d", status(code))
    await crawler.refresh("/")
    assert not crawler.archived()
    serve(crawler.web, {"/d": []})
    await crawler.refresh("/")
    assert crawler.archived() == ["/b"]


@pytest.mark.parametrize("code", [404, 403, 503])
async def test_a_start_that_can_not_be_had_archives_nothing(crawler: Crawler, code: int) -> None:
    await crawled(crawler)
    for path in ("/", "/b"):
        crawler.web.at(path, status(code))
    await crawler.refresh("/")
    assert asked(crawler.web) == ["/"]
    assert not crawler.archived()
    assert crawler.sources()["/"] == "failed"


async def test_robots_that_can_not_be_had_archive_nothing(crawler: Crawler) -> None:
    await crawled(crawler)
    crawler.web.at("/", html(linking("new start", ["a"])))
    robots = crawler.rooms.fetching._pages.robots  # type: ignore[attr-defined]
    robots._sites.clear()
    crawler.web.at("/robots.txt", status(503))
    await crawler.refresh("/")
    assert not crawler.archived()


async def test_a_page_that_moved_is_archived_and_its_new_place_added(crawler: Crawler) -> None:
    await crawled(crawler)
    crawler.web.at("/b", redirect("/new/b", 301))
    serve(crawler.web, {"/new/b": []})
    await crawler.refresh("/")
    assert crawler.archived() == ["/b"]
    assert crawler.ready() == ["/", "/a", "/c", "/d", "/new/b"]


async def test_a_page_that_wants_out_of_indexes_is_archived(crawler: Crawler) -> None:
    await crawled(crawler)
    crawler.web.at("/a", html(linking("/a", ["c"], head='<meta name="robots" content="noindex">')))
    await crawler.refresh("/")
    assert crawler.archived() == ["/a"]
    assert crawler.ready() == ["/", "/b", "/c", "/d"]


async def test_new_pages_come_with_a_refresh(crawler: Crawler) -> None:
    await crawled(crawler)
    crawler.web.at("/d", html(linking("/d", ["e"])))
    serve(crawler.web, {"/e": []})
    await crawler.refresh("/")
    assert "/e" in crawler.ready()


async def test_pages_are_refreshed_with_the_start_by_its_schedule_alone(crawler: Crawler) -> None:
    await crawled(crawler)
    await crawler.submit("/alone")
    tables = crawler.tables
    tables.rows("update knowledge_base set time_to_live = interval '1 hour'")
    await crawler.refresh("/")
    due = tables.rows("select url from knowledge_source where due_at is not null and status = 'ready'")
    assert due == [(crawler.web.url("/"),)]
    asked(crawler.web)
    tables.rows("update knowledge_source set due_at = now() where due_at is not null and status = 'ready'")
    await crawler.settle()
    assert sorted(asked(crawler.web)) == sorted(PAGES)
    assert tables.row("select count(*) from knowledge_source where parent_id is not null and priority = 3") == (4,)


async def test_links_of_a_page_that_can_not_be_had_stand(crawler: Crawler) -> None:
    await crawled(crawler)
    crawler.web.at("/c", status(403))
    await crawler.refresh("/")
    assert not crawler.archived()
    assert crawler.sources()["/c"] == "failed"


async def test_a_sitemap_that_can_not_be_had_archives_nothing(crawler: Crawler) -> None:
    from tests.integration.crawling.test_finding import sitemap
    from tests.support.web import Reply

    web = crawler.web
    web.at("/sitemap.xml", Reply(sitemap([web.url("/listed")])))
    serve(web, {"/": ["a"], "/a": [], "/listed": []})
    await crawler.crawl("/")
    for behaviour in (status(503), Reply(b"<urlset><url><loc>cut o"), status(403)):
        web.at("/sitemap.xml", behaviour)
        await crawler.refresh("/")
        assert crawler.ready() == ["/", "/a", "/listed"]
    web.at("/sitemap.xml", status(404))
    await crawler.refresh("/")
    assert crawler.ready() == ["/", "/a"]


LARGE = {"/": [f"p{number}" for number in range(14)], **{f"/p{number}": [] for number in range(14)}}


def under_maintenance(crawler: Crawler) -> None:
    """Every address answers with the same notice."""
    for path in LARGE:
        crawler.web.at(path, html("<h1>We will be back soon</h1>"))


async def test_a_notice_of_maintenance_archives_nothing(crawler: Crawler) -> None:
    serve(crawler.web, LARGE)
    await crawler.crawl("/")
    assert len(crawler.ready()) == 15
    under_maintenance(crawler)
    await crawler.refresh("/")
    assert not crawler.archived()
    serve(crawler.web, LARGE)
    await crawler.refresh("/")
    assert len(crawler.ready()) == 15
    under_maintenance(crawler)
    await crawler.refresh("/")
    assert not crawler.archived(), "the doubt of long ago does not count"


async def test_a_site_that_stays_without_most_of_its_pages_loses_them(crawler: Crawler) -> None:
    serve(crawler.web, LARGE)
    await crawler.crawl("/")
    crawler.web.at("/", html(linking("what is left", ["p1"])))
    await crawler.refresh("/")
    assert not crawler.archived()
    await crawler.refresh("/")
    assert crawler.ready() == ["/", "/p1"]
    assert len(crawler.archived()) == 13
