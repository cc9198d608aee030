"""The reader of pages on hosts that answer with something else than the page."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from schemas.codes import Code
from services.chassis.errors import RetryLater, SourceRefused
from services.fetcher.http.answers import Fetched, NotModified
from services.fetcher.reading.page_reader import PageReader
from services.fetcher.reading.settings import ReaderSettings
from tests.support.web import Reply, WebServer, conditional, drip, page, redirect, status

from .conftest import Network, settings

TEXT = "<title>Manual</title><h1>Manual</h1>" + "<p>A paragraph of the manual, which says something.</p>" * 10
LOGIN = "<title>Sign in</title><form><input name=u><input type=password name=p></form>"


def leads(target: str) -> Reply:
    return page(f'<meta http-equiv="refresh" content="0; url={target}">')


@pytest.fixture
async def reader() -> AsyncIterator[PageReader]:
    """A reader without a service, that may go to loopback."""
    async with PageReader(settings(robots=True), ReaderSettings()) as made:
        yield made


async def refusal(reader: PageReader, url: str) -> Code:
    with pytest.raises(SourceRefused) as refused:
        await reader.fetch(url)
    return refused.value.code


async def test_a_refresh_is_followed_like_a_redirect(reader: PageReader, web: WebServer) -> None:
    web.at("/old", redirect("/older"))
    web.at("/older", leads("/new?utm_source=x#top"))
    web.at("/new", page(TEXT))
    got = await reader.fetch(web.url("/old"))
    assert isinstance(got, Fetched)
    assert got.url_final == web.url("/new")
    assert got.redirects == (web.url("/old"), web.url("/older"))


async def test_refreshes_in_a_circle_end_at_once(reader: PageReader, web: WebServer) -> None:
    web.at("/a", leads("/b"))
    web.at("/b", redirect("/a#again"))
    assert await refusal(reader, web.url("/a")) == Code.TOO_MANY_REDIRECTS
    assert [request.path for request in web.requests] == ["/robots.txt", "/a", "/b"]


async def test_refreshes_that_go_on_are_not_followed_for_ever(reader: PageReader, web: WebServer) -> None:
    for number in range(20):
        web.at(f"/{number}", leads(f"/{number + 1}"))
    assert await refusal(reader, web.url("/0")) == Code.TOO_MANY_REDIRECTS
    assert len(web.requests) == 10


async def test_a_refresh_to_a_private_place_is_refused(reader: PageReader, network: Network, web: WebServer) -> None:
    network.routes[("127.0.0.1", web.port)] = web.port
    web.at("/a", leads("http://10.0.0.1/"))
    assert await refusal(reader, web.url("/a")) == Code.URL_REFUSED
    assert {place[0] for place in network.connections} == {"127.0.0.1"}


async def test_a_refresh_to_a_slow_page_ends_with_the_time_of_all(web: WebServer) -> None:
    web.at("/a", leads("/b"))
    web.at("/b", drip(b"<p>"))
    async with PageReader(settings(total_seconds=0.5), ReaderSettings()) as reader:
        with pytest.raises(RetryLater) as failed:
            await reader.fetch(web.url("/a"))
    assert failed.value.code == Code.FETCH_TIMEOUT


async def test_a_redirect_to_a_login_form_is_refused(reader: PageReader, web: WebServer) -> None:
    web.at("/handbook", redirect("/login?next=/handbook"))
    web.at("/login", page(LOGIN))
    assert await refusal(reader, web.url("/handbook")) == Code.LOGIN_REQUIRED


@pytest.mark.parametrize("code", [401, 403])
async def test_a_refusal_by_status_stays_one(reader: PageReader, web: WebServer, code: int) -> None:
    web.at("/a", Reply(LOGIN.encode(), code, {"Content-Type": "text/html"}))
    assert await refusal(reader, web.url("/a")) == Code.HTTP_STATUS


async def test_an_error_with_success_is_refused(reader: PageReader, web: WebServer) -> None:
    url = web.at("/gone", page("<title>Page not found</title><h1>Page not found</h1>"))
    assert await refusal(reader, url) == Code.ERROR_PAGE


async def test_a_page_drawn_by_scripts_is_passed_on(reader: PageReader, web: WebServer) -> None:
    got = await reader.fetch(web.at("/", page('<div id="root"></div><script src="/a.js"></script>')))
    assert isinstance(got, Fetched)


async def test_an_unchanged_page_is_not_sent_again(reader: PageReader, web: WebServer) -> None:
    url = web.at("/a", conditional(TEXT.encode(), etag='"1"'))
    assert isinstance(await reader.fetch(url), Fetched)
    assert isinstance(await reader.fetch(url, etag='"1"'), NotModified)


async def test_other_types_come_as_they_are(reader: PageReader, web: WebServer) -> None:
    body = b"%PDF-1.7 404 Not Found"
    for media_type in ("application/pdf", "application/octet-stream"):
        got = await reader.fetch(web.at("/a", Reply(body, headers={"Content-Type": media_type})))
        assert isinstance(got, Fetched)
        assert (got.body, got.media_type) == (body, media_type)


async def test_a_missing_page_is_refused(reader: PageReader, web: WebServer) -> None:
    assert await refusal(reader, web.at("/a", status(404))) == Code.HTTP_STATUS
