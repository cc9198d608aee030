from __future__ import annotations

import gzip
import hashlib
import time
from typing import Any

import pytest

from schemas.codes import Code
from services.chassis.errors import RetryLater, SourceRefused
from services.fetcher.crawling.scope import scope_of
from services.fetcher.crawling.sitemaps import (
    MOST_PAGES,
    MOST_SITEMAPS,
    Listing,
    Sitemap,
    Sitemaps,
    UnreadableSitemap,
    parse_sitemap,
)
from services.fetcher.http.answers import Fetched, Gone

SCOPE = scope_of("http://h/docs/", "http://h/docs/", None)
NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


def xml(*pages: str, root: str = "urlset", item: str = "url", namespace: str = NAMESPACE) -> bytes:
    items = "".join(f"<{item}><lastmod>2026</lastmod><loc>\n {page} </loc></{item}>" for page in pages)
    return f'<?xml version="1.0" encoding="UTF-8"?><{root} xmlns="{namespace}">{items}</{root}>'.encode()


def index(*sitemaps: str) -> bytes:
    return xml(*sitemaps, root="sitemapindex", item="sitemap")


class Web:
    """Bodies, or errors, by their addresses. What is not there is gone."""

    def __init__(self, answers: dict[str, Any], named: list[str] | None = None) -> None:
        self.answers = answers
        self.named = named or []
        self.asked: list[str] = []

    async def fetch(self, url: str) -> Fetched:
        self.asked.append(url)
        answer = self.answers.get(url, Gone(Code.HTTP_STATUS, "404 Not Found"))
        if isinstance(answer, Exception):
            raise answer
        digest = hashlib.sha256(answer).hexdigest()
        return Fetched(url, 200, "application/xml", None, answer, digest, None, None, ())

    async def allowed(self, url: str) -> bool:
        return True

    async def sitemaps(self, url: str) -> list[str]:
        return self.named

    async def listing(self) -> Listing:
        return await Sitemaps(self, self).listing(SCOPE)


def test_addresses_of_pages_and_sitemaps() -> None:
    assert parse_sitemap(xml("http://h/a?x=1&amp;y=2", "http://h/b")) == Sitemap(
        ["http://h/a?x=1&y=2", "http://h/b"], []
    )
    assert parse_sitemap(index("http://h/s.xml")) == Sitemap([], ["http://h/s.xml"])
    assert parse_sitemap(xml("http://h/a", namespace="https://www.google.com/schemas/sitemap/0.84")).pages
    assert parse_sitemap(b"\xef\xbb\xbf" + xml("http://h/a")).pages == ["http://h/a"]
    assert parse_sitemap(gzip.compress(xml("http://h/a"))).pages == ["http://h/a"]
    assert parse_sitemap(b"http://h/a\r\n\r\nhttp://h/b\n").pages == ["http://h/a", "http://h/b"]


def test_addresses_of_pictures_are_none_of_pages() -> None:
    inner = '<image:image xmlns:image="x"><image:loc>http://h/p.png</image:loc></image:image>'
    body = f'<urlset xmlns="{NAMESPACE}"><url><loc>http://h/a</loc>{inner}</url></urlset>'
    assert parse_sitemap(body.encode()).pages == ["http://h/a"]


@pytest.mark.parametrize(
    "body",
    [
        xml("http://h/a")[:-20],
        b"<",
        b"<urlset><url></urlset>",
        gzip.compress(xml("http://h/a"))[:-20],
        gzip.compress(b"\0" * (60 * 2**20)),
        b"\x1f\x8bnonsense",
        b"<a>" * 100_000,
    ],
)
def test_what_is_broken_or_too_large_is_not_taken_for_all(body: bytes) -> None:
    with pytest.raises(UnreadableSitemap):
        parse_sitemap(body)


def test_entities_are_neither_resolved_nor_loaded(tmp_path: Any) -> None:
    secret = tmp_path / "secret"
    secret.write_text("http://h/docs/secret")
    lols = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    for entity in (f'<!ENTITY e SYSTEM "file://{secret}">', '<!ENTITY l0 "lol">' + lols + '<!ENTITY e "&l9;">'):
        started = time.perf_counter()
        body = f"<!DOCTYPE urlset [{entity}]><urlset><url><loc>&e;</loc></url><url><loc>http://h/a</loc></url></urlset>"
        try:
            found = parse_sitemap(body.encode()).pages
        except UnreadableSitemap:
            found = []
        assert "secret" not in str(found)
        assert "lol" not in str(found)
        assert time.perf_counter() - started < 2


async def test_the_usual_places_where_robots_name_none() -> None:
    web = Web({"http://h/sitemap.xml": xml("http://h/docs/a"), "http://h/docs/sitemap.xml": xml("http://h/docs/b")})
    assert await web.listing() == Listing(["http://h/docs/a", "http://h/docs/b"], True)
    named = Web({"http://h/x.xml": xml("http://h/docs/c")}, ["http://h/x.xml"])
    assert await named.listing() == Listing(["http://h/docs/c"], True)
    assert named.asked == ["http://h/x.xml"]


async def test_pages_out_of_scope_are_left_out() -> None:
    listed = [
        "http://h/docs/a",
        "https://h/docs/a#x",
        "http://h/other",
        "http://g/docs/b",
        "nonsense",
        "http://h/docs/x.png",
    ]
    assert await Web({"http://h/sitemap.xml": xml(*listed)}).listing() == Listing(["http://h/docs/a"], True)


@pytest.mark.parametrize(
    "fault",
    [
        RetryLater(Code.HTTP_STATUS, "503"),
        SourceRefused(Code.HTTP_STATUS, "403"),
        SourceRefused(Code.SOURCE_TOO_LARGE, "20 MiB"),
        b"<urlset><url><loc>http://h/docs/b",
    ],
)
async def test_what_can_be_read_counts_and_the_listing_is_not_whole(fault: Any) -> None:
    answers = {"http://h/1.xml": fault, "http://h/2.xml": xml("http://h/docs/a")}
    web = Web(answers | {"http://h/sitemap.xml": index("http://h/1.xml", "http://h/2.xml")})
    assert await web.listing() == Listing(["http://h/docs/a"], False)


async def test_sitemaps_that_name_each_other_end() -> None:
    web = Web({"http://h/sitemap.xml": index("http://h/a.xml"), "http://h/a.xml": index("http://h/sitemap.xml")})
    assert await web.listing() == Listing([], True)
    assert len(web.asked) == 3


async def test_there_are_limits() -> None:
    class Endless(Web):
        async def fetch(self, url: str) -> Fetched:
            number = len(self.asked)
            self.answers[url] = index(*(f"http://h/{number}-{n}.xml" for n in range(100)))
            return await super().fetch(url)

    endless = Endless({})
    assert (await endless.listing()).pages == []
    assert len(endless.asked) == MOST_SITEMAPS
    many = Web({"http://h/sitemap.xml": xml(*(f"http://h/docs/{n}" for n in range(MOST_PAGES + 10)))})
    assert len((await many.listing()).pages) == MOST_PAGES
