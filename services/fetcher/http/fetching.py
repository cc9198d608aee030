"""Fetching a page straight from its host."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import httpx

from schemas import urls
from schemas.codes import Code
from services.chassis.errors import RetryLater, SourceRefused
from services.fetcher.http.answers import Fetched, NotModified, failure, fetched, validator
from services.fetcher.http.decoding import ACCEPTED_ENCODINGS, read_body, too_large
from services.fetcher.http.politeness import HostTurns
from services.fetcher.http.settings import FetchSettings
from services.fetcher.http.transport import CheckedTransport

_ACCEPT = "text/html, application/xhtml+xml;q=0.9, application/pdf;q=0.9, text/*;q=0.8, */*;q=0.7"
_REDIRECTS = {301, 302, 303, 307, 308}


@dataclass(frozen=True, slots=True)
class _Redirect:
    target: str


@dataclass(frozen=True, slots=True)
class _Conditions:
    """Validators of the stored version, and the normalized URL that they were given for."""

    url: str
    etag: str | None
    last_modified: str | None

    def headers(self, url: str) -> dict[str, str]:
        """The request headers for a URL. Another page's validators would make a new page look unchanged."""
        if urls.normalize(url) != self.url:
            return {}
        pairs = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in pairs.items() if value is not None}


class DirectFetcher:
    """Fetches pages from public hosts. One per process and event loop; to be closed, or used by `async with`."""

    def __init__(self, settings: FetchSettings) -> None:
        self._settings = settings
        self._turns = HostTurns(settings.host_concurrency, settings.host_delay_seconds, settings.host_wait_seconds)
        # No client around it: that would keep cookies of one organization for another's page, and parse the targets of
        # redirects by rules of its own.
        self._transport = CheckedTransport(settings)

    async def fetch(
        self,
        url: str,
        *,
        etag: str | None = None,
        last_modified: str | None = None,
        validated_url: str | None = None,
    ) -> Fetched | NotModified:
        """The page that the URL leads to, or that it is unchanged since the validators were given.

        validated_url: the url_final that came with the validators, where it isn't the URL itself. The time limit covers
        redirects and body, not the wait for the host's turn.

        Raises SourceRefused (URL_INVALID, URL_REFUSED, HTTP_STATUS, TOO_MANY_REDIRECTS, SOURCE_TOO_LARGE, EMPTY) and
        RetryLater (HOST_NOT_FOUND, FETCH_FAILED, FETCH_TIMEOUT, HTTP_STATUS, RATE_LIMITED).
        """
        try:
            conditions = _Conditions(urls.normalize(validated_url or url), validator(etag), validator(last_modified))
            return await self._follow(str(urls.parse(url)), conditions)
        except urls.InvalidUrl as error:
            raise SourceRefused(Code.URL_INVALID, str(error)) from error

    async def _follow(self, current: str, conditions: _Conditions) -> Fetched | NotModified:
        passed: list[str] = []
        seconds = self._settings.total_seconds
        while True:
            answer, spent = await self._hop(current, conditions, tuple(passed), seconds)
            if not isinstance(answer, _Redirect):
                return answer
            seconds -= spent
            passed.append(current)
            current = answer.target
            if current in passed:
                raise SourceRefused(Code.TOO_MANY_REDIRECTS, f"The redirects come back to {current}.")
            if len(passed) > self._settings.max_redirects:
                raise SourceRefused(Code.TOO_MANY_REDIRECTS, f"More than {self._settings.max_redirects} redirects.")

    async def aclose(self) -> None:
        """Closes all connections."""
        await self._transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _hop(
        self, url: str, conditions: _Conditions, passed: tuple[str, ...], seconds: float
    ) -> tuple[Fetched | NotModified | _Redirect, float]:
        """One request within its host's turn, and the seconds that it took. Only one turn is held at a time."""
        host = urls.parse(url).host
        async with self._turns.turn(host):
            started = time.monotonic()
            try:
                async with asyncio.timeout(max(seconds, 0)):
                    answer = await self._request(url, conditions, passed)
            except (TimeoutError, httpx.TimeoutException) as error:
                raise RetryLater(Code.FETCH_TIMEOUT, f"{host} took too long.") from error
            except (httpx.TransportError, OSError) as error:
                raise RetryLater(Code.FETCH_FAILED, f"{host} could not be read: {error}") from error
            except RetryLater as error:
                self._turns.rest(host, error.after or 0)
                raise
            return answer, time.monotonic() - started

    async def _request(
        self, url: str, conditions: _Conditions, passed: tuple[str, ...]
    ) -> Fetched | NotModified | _Redirect:
        headers = conditions.headers(url)
        async with aclosing(await self._transport.handle_async_request(self._get(url, headers))) as response:
            if response.status_code in _REDIRECTS and "location" in response.headers:
                return _Redirect(urls.resolve(url, response.headers["location"]))
            if response.status_code == httpx.codes.NOT_MODIFIED and headers:
                return NotModified(
                    conditions.url,
                    validator(response.headers.get("etag")) or conditions.etag,
                    validator(response.headers.get("last-modified")) or conditions.last_modified,
                    passed,
                )
            if not response.is_success:
                raise failure(url, response)
            body = await self._body(response)
            if not body:
                raise SourceRefused(Code.EMPTY, f"{url} has an empty body.")
            return fetched(urls.normalize(url), response, body, passed)

    async def _body(self, response: httpx.Response) -> bytes:
        limit = self._settings.max_bytes
        length = response.headers.get("content-length", "")
        if length.isascii() and length.isdigit() and (len(length) > 18 or int(length) > limit):
            raise too_large(limit)
        return await read_body(response.aiter_raw(), response.headers.get("content-encoding", ""), limit)

    def _get(self, url: str, conditions: dict[str, str]) -> httpx.Request:
        seconds = self._settings.read_seconds
        timeout = httpx.Timeout(connect=self._settings.connect_seconds, read=seconds, write=seconds, pool=None)
        headers = {
            "Host": urls.parse(url).authority,
            "User-Agent": self._settings.user_agent,
            "Accept": _ACCEPT,
            "Accept-Encoding": ACCEPTED_ENCODINGS,
        }
        return httpx.Request("GET", url, headers=headers | conditions, extensions={"timeout": timeout.as_dict()})
