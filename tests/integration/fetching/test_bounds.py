"""Whatever a host sends, a fetch is bounded in time and memory."""

from __future__ import annotations

import asyncio
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from schemas.codes import Code
from services.chassis.errors import KnowledgeBaseError, RetryLater, SourceRefused
from services.fetcher.http.fetching import DirectFetcher
from tests.support.web import Behaviour, Reply, WebServer, chunked, drip, endless, gzip_bomb, raw, redirect, silent

from .conftest import Network, settings

MEBIBYTE = 2**20


@contextmanager
def bounded(seconds: float, mebibytes: float) -> Iterator[None]:
    """Fails when the block takes longer, or has more memory at a time."""
    tracemalloc.start()
    started = time.monotonic()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert time.monotonic() - started < seconds
    assert peak < mebibytes * MEBIBYTE


@pytest.mark.parametrize(
    "behaviour",
    [
        gzip_bomb(100),
        endless(),
        endless(b"\0\0\0\xff\xff" * 10_000, Content_Encoding="deflate"),
        chunked(*[b"x" * 65_536] * 40),
        Reply(b"x", length=2 * MEBIBYTE),
        Reply(b"x", headers={"Content-Length": "9" * 18}),
    ],
    ids=["gzip bomb", "endless", "endless deflate", "chunked", "long by its header", "very long by its header"],
)
async def test_a_body_without_measure_is_refused(fetcher: DirectFetcher, web: WebServer, behaviour: Behaviour) -> None:
    url = web.at("/", behaviour)
    with bounded(seconds=5, mebibytes=8), pytest.raises(SourceRefused) as refused:
        await fetcher.fetch(url)
    assert refused.value.code == Code.SOURCE_TOO_LARGE


@pytest.mark.parametrize(
    "behaviour",
    [drip(), drip(b"", 0.01), silent()],
    ids=["drip", "silent after the head", "silent"],
)
async def test_a_slow_host_is_left(web: WebServer, behaviour: Behaviour) -> None:
    url = web.at("/", behaviour)
    async with DirectFetcher(settings(total_seconds=0.5)) as fetcher:
        with bounded(seconds=3, mebibytes=8), pytest.raises(RetryLater) as failed:
            await fetcher.fetch(url)
    assert failed.value.code == Code.FETCH_TIMEOUT


async def test_a_silent_host_is_left_before_the_whole_time_is_over(web: WebServer) -> None:
    url = web.at("/", silent())
    async with DirectFetcher(settings(total_seconds=60, read_seconds=0.2)) as fetcher:
        with bounded(seconds=3, mebibytes=8), pytest.raises(RetryLater) as failed:
            await fetcher.fetch(url)
    assert failed.value.code == Code.FETCH_TIMEOUT


async def test_the_time_is_that_of_all_redirects_together(web: WebServer) -> None:
    async def slowly(request: object, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.2)
        await redirect(f"/{len(web.requests)}")(request, writer)  # type: ignore[arg-type]

    for number in range(9):
        web.at(f"/{number}", slowly)
    async with DirectFetcher(settings(total_seconds=0.5)) as fetcher:
        with pytest.raises(RetryLater) as failed:
            await fetcher.fetch(web.url("/0"))
    assert failed.value.code == Code.FETCH_TIMEOUT
    assert len(web.requests) <= 3


@pytest.mark.parametrize(
    "behaviour",
    [
        raw(b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: %s\r\n" % (n, b"y" * 900) for n in range(2_000)) + b"\r\n"),
        raw(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 3 * MEBIBYTE),
        raw(b"HTTP/1.1 200 " + b"y" * 3 * MEBIBYTE),
        raw(b"\xff" * 1_000 + b"\r\n\r\n"),
        raw(b""),
        raw(b"220 mail.example ESMTP\r\n"),
        raw(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 7\r\n\r\nhello"),
        raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello"),
        Reply(b"half", length=8),
        chunked(b"half", ended=False),
        Reply(b"not gzip", headers={"Content-Encoding": "gzip"}),
        Reply(b"br", headers={"Content-Encoding": "br"}),
    ],
    ids=[
        "many headers",
        "long header",
        "long status",
        "noise",
        "hangs up",
        "mail server",
        "two lengths",
        "bad chunk",
        "short body",
        "broken chunks",
        "not gzip",
        "brotli",
    ],
)
async def test_a_broken_answer_is_tried_again(fetcher: DirectFetcher, web: WebServer, behaviour: Behaviour) -> None:
    url = web.at("/", behaviour)
    with bounded(seconds=5, mebibytes=8), pytest.raises(RetryLater) as failed:
        await fetcher.fetch(url)
    assert failed.value.code == Code.FETCH_FAILED


async def test_redirects_in_a_circle_end_at_once(fetcher: DirectFetcher, web: WebServer) -> None:
    web.at("/a", redirect("/b"))
    web.at("/b", redirect("/c"))
    web.at("/c", redirect("/b#again"))
    with pytest.raises(SourceRefused) as refused:
        await fetcher.fetch(web.url("/a"))
    assert refused.value.code == Code.TOO_MANY_REDIRECTS
    assert [request.path for request in web.requests] == ["/a", "/b", "/c"]


async def test_redirects_that_go_on_are_not_followed_for_ever(fetcher: DirectFetcher, web: WebServer) -> None:
    for number in range(20):
        web.at(f"/{number}", redirect(f"/{number + 1}"))
    with pytest.raises(SourceRefused) as refused:
        await fetcher.fetch(web.url("/0"))
    assert refused.value.code == Code.TOO_MANY_REDIRECTS
    assert len(web.requests) == 9


async def test_two_hosts_that_lead_to_each_other_wait_for_nobody(network: Network, web: WebServer) -> None:
    network.names.update({"a.example": [["127.0.0.1"]], "b.example": [["127.0.0.1"]]})
    network.routes[("127.0.0.1", web.port)] = web.port
    web.at("/from-a", redirect(web.url("/end", "b.example")))
    web.at("/from-b", redirect(web.url("/end", "a.example")))
    web.at("/end", Reply(b"end"))
    starts = [web.url("/from-a", "a.example"), web.url("/from-b", "b.example")] * 5
    async with DirectFetcher(settings(host_concurrency=1)) as fetcher:
        pages = await asyncio.wait_for(asyncio.gather(*map(fetcher.fetch, starts)), 10)
    assert len(pages) == 10


async def test_a_cancelled_fetch_leaves_nothing_behind(web: WebServer) -> None:
    url, end = web.at("/", silent()), web.at("/end", Reply(b"end"))
    async with DirectFetcher(settings(host_concurrency=1, max_connections=1)) as fetcher:
        for _ in range(3):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(fetcher.fetch(url), 0.05)
        await fetcher.fetch(end)


async def test_an_early_end_frees_the_connection(web: WebServer) -> None:
    url, end = web.at("/", endless()), web.at("/end", Reply(b"end"))
    async with DirectFetcher(settings(max_connections=1)) as fetcher:
        for _ in range(3):
            with pytest.raises(KnowledgeBaseError):
                await fetcher.fetch(url)
        await fetcher.fetch(end)
