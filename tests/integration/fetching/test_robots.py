"""What robots.txt forbids isn't asked for; and whatever it is, it is read within bounds."""

from __future__ import annotations

import asyncio
import time
import tracemalloc
from collections.abc import AsyncIterator

import pytest

from schemas.codes import Code
from services.chassis.errors import RetryLater, SourceRefused
from services.fetcher.http import robots as robots_module
from services.fetcher.http.fetching import DirectFetcher
from tests.support.web import Behaviour, Reply, WebServer, drip, endless, gzip_bomb, page, raw, redirect, silent, status

from .conftest import Network, settings


@pytest.fixture
async def polite() -> AsyncIterator[DirectFetcher]:
    """A fetcher that obeys robots.txt."""
    async with DirectFetcher(settings(robots=True)) as made:
        yield made


def rules(*lines: str) -> Reply:
    return Reply("\n".join(lines).encode(), headers={"Content-Type": "text/plain"})


def asked(web: WebServer, path: str = "/robots.txt") -> int:
    return sum(request.path == path for request in web.requests)


async def test_what_is_forbidden_is_not_asked_for(polite: DirectFetcher, web: WebServer) -> None:
    web.at("/robots.txt", rules("User-agent: *", "Disallow: /private", "Allow: /private/open"))
    web.at("/private/open", page("open"))
    await polite.fetch(web.url("/private/open"))
    with pytest.raises(SourceRefused) as refused:
        await polite.fetch(web.url("/private/a"))
    assert refused.value.code == Code.ROBOTS_DENIED
    assert [request.path for request in web.requests] == ["/robots.txt", "/private/open"]


async def test_the_rules_for_this_agent_come_before_those_for_all(polite: DirectFetcher, web: WebServer) -> None:
    web.at(
        "/robots.txt",
        rules(
            "User-agent: other\rDisallow: /b",
            "User-Agent: Agent-Knowledge-Base # we",
            "Disallow: /a",
            "User-agent: *",
            "Disallow: /",
        ),
    )
    assert not await polite.robots.allowed(web.url("/a"))
    assert await polite.robots.allowed(web.url("/b"))


async def test_the_target_of_a_redirect_is_checked_too(polite: DirectFetcher, web: WebServer) -> None:
    web.at("/robots.txt", rules("User-agent: *", "Disallow: /private"))
    web.at("/a", redirect("/private"))
    with pytest.raises(SourceRefused) as refused:
        await polite.fetch(web.url("/a"))
    assert refused.value.code == Code.ROBOTS_DENIED
    assert asked(web, "/private") == 0


async def test_it_can_be_left_aside(web: WebServer) -> None:
    web.at("/robots.txt", rules("User-agent: *", "Disallow: /", "Crawl-delay: 20", "Sitemap: /s.xml"))
    web.at("/a", page("a"))
    async with DirectFetcher(settings(robots=False)) as fetcher:
        await fetcher.fetch(web.url("/a"))
        assert asked(web) == 0
        assert await fetcher.robots.sitemaps(web.url("/a")) == [web.url("/s.xml")]
        assert fetcher.robots.crawl_delay("127.0.0.1") is None


@pytest.mark.parametrize("code", [400, 401, 403, 404, 410, 451])
async def test_without_the_file_all_is_allowed(polite: DirectFetcher, web: WebServer, code: int) -> None:
    web.at("/robots.txt", status(code))
    assert await polite.robots.allowed(web.url("/a"))


@pytest.mark.parametrize("code", [429, 500, 503])
async def test_a_site_in_trouble_is_left_alone_for_a_while(polite: DirectFetcher, web: WebServer, code: int) -> None:
    web.at("/robots.txt", status(code))
    for _ in range(2):
        with pytest.raises(RetryLater):
            await polite.fetch(web.url("/a"))
    assert [request.path for request in web.requests] == ["/robots.txt"]


async def test_the_file_is_asked_for_once_by_all_who_need_it(polite: DirectFetcher, web: WebServer) -> None:
    web.at("/robots.txt", rules("User-agent: *", "Disallow: /private"))
    assert all(await asyncio.gather(*(polite.robots.allowed(web.url(f"/{n}")) for n in range(20))))
    assert asked(web) == 1


async def test_it_is_asked_for_again_after_its_time(
    polite: DirectFetcher, web: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(robots_module, "FRESH_SECONDS", 0.0)
    for _ in range(2):
        await polite.robots.allowed(web.url("/a"))
    assert asked(web) == 2


async def test_not_all_sites_are_remembered(
    polite: DirectFetcher, web: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(robots_module, "MAX_CHARACTERS", 1_000)
    web.at("/robots.txt", rules("User-agent: *", "# " + "x" * 700))
    async with WebServer() as other:
        other.at("/robots.txt", rules("User-agent: *", "# " + "x" * 700))
        for server in (web, other, other, web):
            await polite.robots.allowed(server.url("/a"))
        assert (asked(web), asked(other)) == (2, 1)


async def test_a_cancelled_reader_leaves_the_others_the_file(polite: DirectFetcher, web: WebServer) -> None:
    begun = asyncio.Event()

    async def first_silent(request: object, writer: asyncio.StreamWriter) -> None:
        if asked(web) == 1:
            begun.set()
            await asyncio.Event().wait()
        await rules("User-agent: *", "Disallow: /")(request, writer)  # type: ignore[arg-type]

    web.at("/robots.txt", first_silent)
    first, second = (asyncio.create_task(polite.robots.allowed(web.url("/a"))) for _ in range(2))
    await begun.wait()
    first.cancel()
    assert await second is False


async def test_a_host_can_ask_for_slowness(web: WebServer) -> None:
    web.at("/robots.txt", rules("User-agent: *", "Crawl-delay: 9"))
    web.at("/a", page("a"))
    async with DirectFetcher(settings(robots=True, host_wait_seconds=1)) as fetcher:
        await fetcher.fetch(web.url("/a"))
        assert fetcher.robots.crawl_delay("127.0.0.1") == 9.0
        with pytest.raises(RetryLater) as busy:
            await fetcher.fetch(web.url("/a"))
    assert busy.value.code == Code.RATE_LIMITED
    assert not busy.value.counted


async def test_sitemaps_are_listed(polite: DirectFetcher, web: WebServer) -> None:
    web.at(
        "/robots.txt",
        rules(
            "Sitemap: /a.xml",
            "User-agent: *",
            "sitemap: https://other.example/b.xml#x",
            "Sitemap: ftp://x/",
            "Sitemap:",
            "Sitemap: /a.xml",
        ),
    )
    assert await polite.robots.sitemaps(web.url("/deep/page?x=1")) == [web.url("/a.xml"), "https://other.example/b.xml"]


async def test_redirects_are_followed_five_times(polite: DirectFetcher, web: WebServer) -> None:
    web.at("/robots.txt", redirect("/1"))
    for number in range(1, 5):
        web.at(f"/{number}", redirect(f"/{number + 1}"))
    web.at("/5", rules("User-agent: *", "Disallow: /"))
    assert not await polite.robots.allowed(web.url("/a"))


@pytest.mark.parametrize("target", ["/robots.txt", "http://10.0.0.1/robots.txt", "ftp://x/", "http://[::1"])
async def test_a_redirect_to_nowhere_is_no_file(
    polite: DirectFetcher, network: Network, web: WebServer, target: str
) -> None:
    network.routes[("127.0.0.1", web.port)] = web.port
    web.at("/robots.txt", redirect(target))
    assert await polite.robots.allowed(web.url("/a"))
    assert {place[0] for place in network.connections} == {"127.0.0.1"}
    assert len(web.requests) <= 6


AGENTS = "".join(f"User-agent: agent{n}\n" for n in range(9_000))
PATHS = "".join(f"Disallow: /{n}\n" for n in range(18_000))
OPENING = b"User-agent: *\nDisallow: /a\n"


@pytest.mark.parametrize(
    "behaviour",
    [
        endless(OPENING * 1_000),
        Reply(OPENING + b"#" * 2**21),
        rules("User-agent: *", "Disallow: /a", *[f"Disallow: /*{n}*x*y" for n in range(20_000)]),
        rules("User-agent: *", "Disallow: /a", AGENTS, PATHS),
        rules("User-agent: *\rDisallow: /a", (AGENTS + PATHS).replace("\n", "\r")),
        rules(*["user  agent agent-knowledge-base"] * 12_000, "Disallow: /a"),
        rules("User-agent: *", "Disallow: /a" + "*a" * 200_000, "Disallow: /a"),
        Reply("\ufeffUser-agent: *\nDisallow: /a\n\0\udfff".encode(errors="surrogatepass")),
    ],
    ids=["endless", "long", "wildcards", "agents", "returns", "one agent", "long rule", "noise"],
)
async def test_a_file_without_measure_is_read_within_bounds(
    polite: DirectFetcher, web: WebServer, behaviour: Behaviour
) -> None:
    web.at("/robots.txt", behaviour)
    started = time.monotonic()
    tracemalloc.start()
    allowed = [await polite.robots.allowed(web.url(path)) for path in ("/a" + "a" * 1_000, "/b")]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert time.monotonic() - started < 4
    assert peak < 64 * 2**20
    assert allowed == [False, True]


@pytest.mark.parametrize(
    ("behaviour", "code"),
    [
        (drip(), Code.FETCH_TIMEOUT),
        (silent(), Code.FETCH_TIMEOUT),
        (raw(b"noise\r\n\r\n"), Code.FETCH_FAILED),
        (Reply(b"x", headers={"Content-Encoding": "gzip"}), Code.FETCH_FAILED),
    ],
)
async def test_a_file_that_does_not_come_is_tried_again(web: WebServer, behaviour: Behaviour, code: Code) -> None:
    web.at("/robots.txt", behaviour)
    async with DirectFetcher(settings(robots=True, total_seconds=0.3)) as fetcher:
        with pytest.raises(RetryLater) as failed:
            await fetcher.fetch(web.url("/a"))
    assert failed.value.code == code


async def test_a_bomb_is_cut(polite: DirectFetcher, web: WebServer) -> None:
    web.at("/robots.txt", gzip_bomb(100))
    tracemalloc.start()
    assert await polite.robots.allowed(web.url("/a"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 * 2**20
