"""One wish brings in each page of a site once, and nothing else."""

from __future__ import annotations

import gzip

from schemas.events.source import Crawl
from tests.integration.crawling.conftest import Crawler
from tests.support.site import asked, html, linking, serve
from tests.support.web import Reply, redirect, status


async def test_one_source_for_each_page(crawler: Crawler) -> None:
    web = crawler.web
    serve(web, {"/docs/a": ["b", "/docs/"], "/docs/b": ["c#part", "c", "c?utm_source=x"], "/docs/c": ["a"]})
    more = '<a rel="nofollow noopener" href="/docs/unwanted">no</a><a href="/docs/logo.png">picture</a>'
    links = ["a", "moved", "/docs/copy", "/other", "gone", "https://example.org/docs/x", "mailto:a@b", "a?print=1"]
    web.at("/docs/", html(linking("start", links, more=more)))
    web.at("/docs/moved", redirect("/docs/target"))
    web.at("/docs/target", html(linking("target", ["nofollow"])))
    web.at("/docs/nofollow", html(linking("n", ["hidden"], head='<meta name="robots" content="nofollow">')))
    web.at("/docs/copy", html(linking("/docs/c", ["a"])))
    web.at("/docs/unwanted", html(linking("unwanted")))
    web.at("/docs/hidden", html(linking("hidden")))
    web.at("/other", html(linking("other")))
    await crawler.crawl("/docs/")
    # /docs/copy was found before the page that it is a copy of.
    assert crawler.ready() == ["/docs/", "/docs/a", "/docs/b", "/docs/copy", "/docs/nofollow", "/docs/target"]
    paths = asked(web)
    assert len(paths) == len(set(paths)) + 1, "only what a redirect led to was asked for twice"
    parents = crawler.tables.rows("select distinct parent_id from knowledge_source where url not like '%%/docs/'")
    assert parents == crawler.tables.rows("select id from knowledge_source where url like '%%/docs/'")


async def test_the_start_is_one_source_however_it_is_called(crawler: Crawler) -> None:
    web = crawler.web
    web.at("/docs", redirect("/docs/"))
    serve(web, {"/docs/": ["a", "/docs", "index.html"], "/docs/a": ["/docs/", "/docs", "index.html"]})
    web.at("/docs/index.html", html(linking("/docs/", ["a", "/docs", "index.html"])))
    web.at("/", html(linking("outside")))
    await crawler.crawl("/docs", max_pages=10)
    assert crawler.ready() == ["/docs", "/docs/a"]


async def test_a_page_that_says_it_is_another_is_none(crawler: Crawler) -> None:
    web = crawler.web
    serve(web, {"/": ["a?view=print", "b.html", "b"], "/b": []})
    named = '<link rel="canonical" href="/a">'

    async def by_query(request: object, writer: object) -> None:
        text = linking("print of a" if request.query else "a", ["c"], head=named)  # type: ignore[attr-defined]
        await html(text)(request, writer)  # type: ignore[arg-type]

    web.at("/a", by_query)
    web.at("/b.html", html(linking("b too", head='<link rel="canonical" href="b">')))
    serve(web, {"/c": []})
    await crawler.crawl("/")
    assert crawler.ready() == ["/", "/a", "/b", "/c"]


async def test_a_canonical_address_that_is_not_there_loses_nothing(crawler: Crawler) -> None:
    serve(crawler.web, {"/": ["a.html", "x/"]})
    crawler.web.at("/a.html", html(linking("a", head='<link rel="canonical" href="/a">')))
    crawler.web.at("/x/", html(linking("x", head='<link rel="canonical" href="/">')))
    await crawler.crawl("/")
    assert crawler.ready() == ["/", "/a.html", "/x/"]


async def test_noindex_pages_are_followed_and_not_kept(crawler: Crawler) -> None:
    serve(crawler.web, {"/": ["index-of-all"], "/a": []})
    crawler.web.at("/index-of-all", html(linking("all", ["a"], head='<meta name="robots" content="noindex">')))
    await crawler.crawl("/")
    assert crawler.ready() == ["/", "/a"]


async def test_base_and_frames(crawler: Crawler) -> None:
    web = crawler.web
    text = '<html><head><base href="/deep/"></head><frameset><frame src="a"><frame src="b"></frameset></html>'
    web.at("/", html(text))
    serve(web, {"/deep/a": [], "/deep/b": []})
    await crawler.crawl("/")
    assert crawler.ready() == ["/", "/deep/a", "/deep/b"]


async def test_robots_are_obeyed(crawler: Crawler) -> None:
    web = crawler.web
    rules = f"User-agent: *\nDisallow: /private\nSitemap: {web.url('/pages.xml')}\n"
    web.at("/robots.txt", Reply(rules.encode(), headers={"Content-Type": "text/plain"}))
    addresses = [web.url("/listed"), web.url("/private/listed")]
    web.at("/pages.xml", Reply(sitemap(addresses), headers={"Content-Type": "application/xml"}))
    serve(web, {"/": ["a", "private/b"], "/a": [], "/private/b": [], "/listed": [], "/private/listed": []})
    await crawler.crawl("/")
    assert crawler.ready() == ["/", "/a", "/listed"]
    assert not [path for path in asked(web) if path.startswith("/private")]


def sitemap(addresses: list[str], kind: str = "url") -> bytes:
    listed = "".join(f"<{kind}><loc> {address}\n</loc></{kind}>" for address in addresses)
    names = {"url": "urlset", "sitemap": "sitemapindex"}
    head = '<?xml version="1.0"?>'
    return f'{head}<{names[kind]} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{listed}</{names[kind]}>'.encode()


async def test_pages_of_sitemaps_that_nothing_links_to(crawler: Crawler) -> None:
    web = crawler.web
    serve(web, {"/docs/": [], "/docs/a": [], "/docs/b": [], "/docs/c": ["d"], "/docs/d": []})
    web.at("/sitemap.xml", Reply(sitemap([web.url("/docs/map.xml.gz"), web.url("/missing.xml")], "sitemap")))
    inside = [web.url("/docs/a"), web.url("/docs/b#x"), web.url("/elsewhere"), "https://example.org/docs/y"]
    web.at("/docs/map.xml.gz", Reply(gzip.compress(sitemap(inside)), headers={"Content-Type": "application/gzip"}))
    web.at("/docs/sitemap.xml", Reply(web.url("/docs/c").encode(), headers={"Content-Type": "text/plain"}))
    await crawler.crawl("/docs/", depth=1)
    assert crawler.ready() == ["/docs/", "/docs/a", "/docs/b", "/docs/c"]


async def test_limits_are_exact(crawler: Crawler) -> None:
    links = [f"p{n}" for n in range(20)]
    serve(
        crawler.web, {"/": ["gone1", "gone2", *links], **{f"/{link}": ["deep"] for link in links}, "/deep": ["deeper"]}
    )
    serve(crawler.web, {"/deeper": []})
    await crawler.crawl("/", max_pages=7)
    assert crawler.ready() == ["/", *(f"/p{n}" for n in range(6))]
    await crawler.crawl("/", max_pages=200, depth=1)
    assert len(crawler.ready()) == 21
    await crawler.crawl("/", max_pages=200, depth=2)
    assert len(crawler.ready()) == 22
    await crawler.crawl("/", max_pages=200)
    assert len(crawler.ready()) == 23


async def test_a_shorter_way_found_later_counts(crawler: Crawler) -> None:
    """The page comes by a long way first: the short way starts at a page that is slow to come."""
    web = crawler.web
    serve(web, {"/": ["a", "z"], "/a": ["b"], "/b": ["c"], "/c": ["end"], "/z": ["c"], "/end": []})
    await crawler.submit("/", crawl=Crawl(depth=3))
    await crawler.step()
    crawler.tables.rows("update knowledge_source set due_at = now() + interval '1 hour' where url like '%%/z'")
    await crawler.rooms.settle()
    assert crawler.sources() == {"/": "ready", "/a": "ready", "/b": "ready", "/c": "ready", "/z": "pending"}
    crawler.tables.rows("update knowledge_source set due_at = now() where url like '%%/z'")
    await crawler.settle()
    assert crawler.ready() == ["/", "/a", "/b", "/c", "/end", "/z"]


async def test_a_source_that_was_there_becomes_a_start(crawler: Crawler) -> None:
    serve(crawler.web, {"/": ["a"], "/a": []})
    await crawler.submit("/")
    await crawler.settle()
    await crawler.crawl("/")
    assert crawler.ready() == ["/", "/a"]


async def test_a_prefix_narrows_and_a_new_one_widens(crawler: Crawler) -> None:
    serve(crawler.web, {"/": ["a/1", "b/1"], "/a/1": ["2"], "/a/2": [], "/b/1": []})
    await crawler.crawl("/", prefix="/a/")
    assert crawler.ready() == ["/", "/a/1", "/a/2"]
    await crawler.crawl("/")
    assert crawler.ready() == ["/", "/a/1", "/a/2", "/b/1"]
    await crawler.crawl("/", prefix="/b/")
    assert crawler.ready() == ["/", "/b/1"]
    assert crawler.archived() == ["/a/1", "/a/2"]


async def test_the_start_on_another_host_than_wished(crawler: Crawler) -> None:
    web = crawler.web
    web.at("/go", redirect(web.url("/docs/en/", host="localhost")))
    serve(web, {"/docs/en/": ["a", "/docs/fr/"], "/docs/en/a": [], "/docs/fr/": []})
    await crawler.crawl("/go")
    urls = crawler.tables.rows("select url from knowledge_source order by url")
    assert urls == [(web.url("/go"),), (web.url("/docs/en/a", host="localhost"),)]


async def test_a_page_that_is_refused_stays_to_be_seen(crawler: Crawler) -> None:
    serve(crawler.web, {"/": ["a", "b"], "/a": []})
    crawler.web.at("/b", status(403))
    await crawler.crawl("/")
    assert crawler.sources() == {"/": "ready", "/a": "ready", "/b": "failed"}
