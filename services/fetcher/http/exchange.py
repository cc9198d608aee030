"""Single requests to public hosts, each within its host's turn and within limits of time and size."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal

import httpx

from schemas import urls
from schemas.codes import Code
from services.chassis.errors import RetryLater
from services.fetcher.http.answers import failure
from services.fetcher.http.decoding import ACCEPTED_ENCODINGS, read_body, too_large
from services.fetcher.http.politeness import HostTurns
from services.fetcher.http.settings import FetchSettings
from services.fetcher.http.transport import CheckedTransport

_ACCEPT = "text/html, application/xhtml+xml;q=0.9, application/pdf;q=0.9, text/*;q=0.8, */*;q=0.7"
_REDIRECTS = {301, 302, 303, 307, 308}


@dataclass(frozen=True, slots=True)
class Bounds:
    """What an answer may take. cut: a longer body ends at max_bytes, instead of being refused."""

    seconds: float
    max_bytes: int
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """A success with its body, a redirect with its target, or a 304. seconds: the time that it took."""

    response: httpx.Response
    body: bytes
    target: str | None
    seconds: float


class Exchange:
    """Asks public hosts. One per process and event loop; to be closed."""

    def __init__(self, settings: FetchSettings) -> None:
        self._settings = settings
        self.turns = HostTurns(settings.host_concurrency, settings.host_delay_seconds, settings.host_wait_seconds)
        # No client around it: that would keep cookies of one organization for another's page, and parse the targets of
        # redirects by rules of its own.
        self._transport = CheckedTransport(settings)

    async def ask(
        self,
        url: str,
        bounds: Bounds,
        conditions: Mapping[str, str] | None = None,
        method: Literal["GET", "HEAD"] = "GET",
    ) -> Answer:
        """One request. A 304 is an answer only where there were conditions. Only one turn is held at a time.

        Raises SourceRefused (URL_REFUSED, HTTP_STATUS, SOURCE_TOO_LARGE), RetryLater (HOST_NOT_FOUND, FETCH_FAILED,
        FETCH_TIMEOUT, HTTP_STATUS, RATE_LIMITED), and InvalidUrl for the target of a redirect.
        """
        host = urls.parse(url).host
        async with self.turns.turn(host):
            started = time.monotonic()
            try:
                async with asyncio.timeout(max(bounds.seconds, 0)):
                    response, body = await self._send(self._request(method, url, conditions or {}), bounds)
                if response.status_code in _REDIRECTS and "location" in response.headers:
                    target = urls.resolve(url, response.headers["location"])
                    return Answer(response, b"", target, time.monotonic() - started)
                if response.is_success or (conditions and response.status_code == httpx.codes.NOT_MODIFIED):
                    return Answer(response, body, None, time.monotonic() - started)
                raise failure(url, response)
            except (TimeoutError, httpx.TimeoutException) as error:
                raise RetryLater(Code.FETCH_TIMEOUT, f"{host} took too long.") from error
            except (httpx.TransportError, OSError) as error:
                raise RetryLater(Code.FETCH_FAILED, f"{host} could not be read: {error}") from error
            except RetryLater as error:
                self.turns.rest(host, error.after or 0)
                raise

    async def check(self, url: str) -> None:
        """Raises SourceRefused(URL_REFUSED) where `ask` would not connect, and RetryLater for a name that has none."""
        try:
            await self._transport.check(url, self._settings.connect_seconds)
        except httpx.TimeoutException as error:
            raise RetryLater(Code.FETCH_TIMEOUT, str(error)) from error

    async def aclose(self) -> None:
        """Closes all connections."""
        await self._transport.aclose()

    async def _send(self, request: httpx.Request, bounds: Bounds) -> tuple[httpx.Response, bytes]:
        """The answer, closed, and the body if it is a page's."""
        async with aclosing(await self._transport.handle_async_request(request)) as response:
            if not response.is_success or request.method == "HEAD":
                return response, b""
            if not bounds.cut and _announced(response) > bounds.max_bytes:
                raise too_large(bounds.max_bytes)
            encoding = response.headers.get("content-encoding", "")
            return response, await read_body(response.aiter_raw(), encoding, bounds.max_bytes, cut=bounds.cut)

    def _request(self, method: str, url: str, conditions: Mapping[str, str]) -> httpx.Request:
        seconds = self._settings.read_seconds
        timeout = httpx.Timeout(connect=self._settings.connect_seconds, read=seconds, write=seconds, pool=None)
        headers = {
            "Host": urls.parse(url).authority,
            "User-Agent": self._settings.user_agent,
            "Accept": _ACCEPT,
            "Accept-Encoding": ACCEPTED_ENCODINGS,
            **conditions,
        }
        return httpx.Request(method, url, headers=headers, extensions={"timeout": timeout.as_dict()})


def _announced(response: httpx.Response) -> float:
    """The bytes that the answer says it has, 0 where it says nothing."""
    length = response.headers.get("content-length", "")
    if not (length.isascii() and length.isdigit()):
        return 0
    return int(length) if len(length) <= 18 else math.inf
