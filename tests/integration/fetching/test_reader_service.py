"""Reading through a service that draws pages, before or behind a fetch of one's own."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from structlog.testing import capture_logs

from schemas.codes import Code
from services.chassis.errors import KnowledgeBaseError, RetryLater, SourceRefused
from services.fetcher.http.answers import Fetched
from services.fetcher.reading.page_reader import PageReader
from services.fetcher.reading.settings import ReaderSettings
from tests.support.web import (
    Behaviour,
    Reply,
    WebServer,
    drip,
    endless,
    gzip_bomb,
    in_turn,
    page,
    redirect,
    silent,
    status,
)

from .conftest import Network, settings

DRAWN = "<title>Drawn</title><h1>Drawn</h1><p>What a browser draws, ä.</p>"
DIRECT = "<title>Direct</title><h1>Direct</h1><p>What the host sends.</p>"
SHELL = '<title>App</title><div id="root"></div><script src="/app.js"></script>'


class Service:
    """A reader service: answers any page with `behaviour`, whatever path it is asked by."""

    def __init__(self, web: WebServer) -> None:
        self.web = web
        self.behaviour: Behaviour = page(DRAWN)
        web._behaviour = lambda request: self.behaviour  # type: ignore[method-assign]

    @property
    def asked(self) -> list[str]:
        """What it was asked for."""
        return [request.path[1:] + (f"?{request.query}" if request.query else "") for request in self.web.requests]


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    """A service on loopback."""
    async with WebServer() as web:
        yield Service(web)


def reading(service: Service, first: str, **changes: Any) -> PageReader:
    """A reader with the service, the first to be asked or the other."""
    seconds = changes.pop("service_seconds", 5)
    reader = ReaderSettings(url=service.web.url(), key="secret", seconds=seconds)
    return PageReader(settings(robots=True, reader=first, **changes), reader)


async def test_the_drawn_page_comes_from_the_service(service: Service, web: WebServer) -> None:
    url = web.url("/app?b=1&a=%20")
    async with reading(service, "jina") as reader:
        got = await reader.fetch(f"{url}#part", etag='"1"')
    body = DRAWN.encode()
    assert got == Fetched(url, 200, "text/html", "utf-8", body, hashlib.sha256(body).hexdigest(), None, None, ())
    assert service.asked == [url]
    headers = service.web.requests[0].headers
    assert headers["authorization"] == "Bearer secret"
    assert headers["x-respond-with"] == "html"
    assert headers["accept"] == "text/html"


@pytest.mark.parametrize(
    ("behaviour", "asked"),
    [
        (page(DIRECT), False),
        (status(404), False),
        (status(410), False),
        (status(403), True),
        (status(503), True),
        (page("<title>Just a moment...</title>"), True),
        (page(SHELL), True),
        (Reply(b"", headers={"Content-Type": "text/html"}), True),
        (Reply(b"x" * 2**21), False),
        (redirect("http://10.0.0.1/"), False),
        (redirect("/private"), False),
    ],
    ids=["page", "404", "410", "403", "503", "challenge", "shell", "empty", "large", "not public", "forbidden"],
)
async def test_the_service_comes_second(service: Service, web: WebServer, behaviour: Behaviour, asked: bool) -> None:
    web.at("/robots.txt", Reply(b"User-agent: *\nDisallow: /private\n"))
    url = web.at("/a", behaviour)
    async with reading(service, "direct") as reader:
        try:
            got = await reader.fetch(url)
        except KnowledgeBaseError:
            got = None
    assert service.asked == ([url] if asked else [])
    assert not asked or (isinstance(got, Fetched) and got.body == DRAWN.encode())


async def test_a_document_does_not_go_through_the_service(service: Service, web: WebServer) -> None:
    pdf = Reply(b"%PDF", headers={"Content-Type": "application/pdf"})
    async with reading(service, "jina") as reader:
        for path in ("/a.pdf", "/download/5"):
            got = await reader.fetch(web.at(path, pdf))
            assert isinstance(got, Fetched)
            assert got.body == b"%PDF"
    async with reading(service, "direct") as reader:
        with pytest.raises(RetryLater):
            await reader.fetch(web.at("/b.docx", status(503)))
    assert service.asked == []


@pytest.mark.parametrize(
    "behaviour",
    [
        *(status(code) for code in (401, 402, 403, 422, 429, 451, 500)),
        page(""),
        page("<title>Page not found</title>"),
        Reply(b"{}", headers={"Content-Type": "application/json"}),
        redirect("/x"),
        silent(),
        drip(),
        endless(),
        gzip_bomb(100),
    ],
)
async def test_the_host_is_asked_where_the_service_fails(
    service: Service, web: WebServer, behaviour: Behaviour
) -> None:
    service.behaviour = behaviour
    url = web.at("/a", page(DIRECT))
    async with reading(service, "jina", service_seconds=0.5) as reader:
        got = await reader.fetch(url)
    assert isinstance(got, Fetched)
    assert got.body == DIRECT.encode()


async def test_without_fallback_only_the_chosen_one_is_asked(service: Service, web: WebServer) -> None:
    service.behaviour = status(500)
    url = web.at("/a", page(SHELL))
    async with reading(service, "jina", fallback=False) as reader:
        with pytest.raises(RetryLater):
            await reader.fetch(url)
    assert [request.method for request in web.requests if request.path == "/a"] == ["HEAD"]
    async with reading(service, "direct", fallback=False) as reader:
        assert isinstance(await reader.fetch(url), Fetched)
    assert len(service.asked) == 1


async def test_without_a_service_none_is_asked(web: WebServer) -> None:
    async with PageReader(settings(), ReaderSettings()) as reader:
        with pytest.raises(SourceRefused) as refused:
            await reader.fetch(web.at("/a", status(403)))
    assert refused.value.code == Code.HTTP_STATUS


async def test_the_service_gets_the_rest_that_it_asks_for(service: Service, web: WebServer) -> None:
    service.behaviour = in_turn(status(429, Retry_After="7"), page(DRAWN))
    url = web.at("/a", page(DIRECT))
    async with reading(service, "jina", fallback=False) as reader:
        with pytest.raises(RetryLater) as first:
            await reader.fetch(url)
        with pytest.raises(RetryLater) as second:
            await reader.fetch(url)
    assert first.value.code == second.value.code == Code.RATE_LIMITED
    assert first.value.after == 7.0
    assert not second.value.counted
    assert len(service.asked) == 1


async def test_a_refusal_of_the_service_is_logged_once(service: Service, web: WebServer) -> None:
    service.behaviour = status(402)
    url = web.at("/a", page(DIRECT))
    async with reading(service, "jina") as reader:
        with capture_logs() as logs:
            for _ in range(3):
                await reader.fetch(url)
    assert [entry["status"] for entry in logs if entry["log_level"] == "warning"] == [402]


async def test_an_address_that_is_not_public_is_not_handed_over(service: Service, network: Network) -> None:
    network.routes[("127.0.0.1", service.web.port)] = service.web.port
    network.names["inside.example"] = [["10.0.0.1"]]
    async with reading(service, "jina", allow_networks=()) as reader:
        for url in ("http://inside.example/", "http://127.0.0.1/", "http://[::1]/", "http://10.0.0.1/a.html"):
            with pytest.raises(SourceRefused) as refused:
                await reader.fetch(url)
            assert refused.value.code == Code.URL_REFUSED
        with pytest.raises(RetryLater) as unknown:
            await reader.fetch("http://unknown.example/")
    assert unknown.value.code == Code.HOST_NOT_FOUND
    assert service.asked == []


async def test_what_robots_forbid_is_not_handed_over(service: Service, web: WebServer) -> None:
    web.at("/robots.txt", Reply(b"User-agent: *\nDisallow: /\n"))
    async with reading(service, "jina") as reader:
        with pytest.raises(SourceRefused) as refused:
            await reader.fetch(web.url("/a"))
    assert refused.value.code == Code.ROBOTS_DENIED
    assert service.asked == []


async def test_what_may_pass_is_tried_again(service: Service, web: WebServer) -> None:
    service.behaviour = status(500)
    for behaviour in (status(403), page(SHELL)):
        async with reading(service, "direct") as reader:
            with pytest.raises(RetryLater):
                await reader.fetch(web.at("/a", behaviour))


async def test_many_are_read_at_a_time(service: Service, web: WebServer) -> None:
    async with reading(service, "jina", host_concurrency=1) as reader:
        await asyncio.wait_for(asyncio.gather(*(reader.fetch(web.url(f"/{n}")) for n in range(20))), 10)
    assert len(set(service.asked)) == 20
