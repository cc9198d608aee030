"""Fetching a page straight from its host."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Self

import httpx

from schemas import urls
from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.fetcher.http.answers import Fetched, NotModified, fetched, validator
from services.fetcher.http.exchange import Answer, Bounds, Exchange
from services.fetcher.http.robots import Robots
from services.fetcher.http.settings import FetchSettings

Method = Literal["GET", "HEAD"]


@dataclass(frozen=True, slots=True)
class _Redirect:
    target: str


@dataclass(frozen=True, slots=True)
class _Conditions:
    """Validators of the stored version, and the normalized URL that they were given for."""

    url: str
    etag: str | None = None
    last_modified: str | None = None

    def headers(self, url: str) -> dict[str, str]:
        """The request headers for a URL. Another page's validators would make a new page look unchanged."""
        if urls.normalize(url) != self.url:
            return {}
        pairs = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in pairs.items() if value is not None}

    def unchanged(self, response: httpx.Response, passed: tuple[str, ...]) -> NotModified:
        """What a 304 says."""
        return NotModified(
            self.url,
            validator(response.headers.get("etag")) or self.etag,
            validator(response.headers.get("last-modified")) or self.last_modified,
            passed,
        )


def _nowhere(page: Fetched) -> str | None:
    return None


class DirectFetcher:
    """Fetches pages from public hosts. One per process and event loop; to be closed, or used by `async with`.

    onward: the normal URL that a page leads to instead of having content of its own; followed like a redirect.
    """

    def __init__(self, settings: FetchSettings, onward: Callable[[Fetched], str | None] = _nowhere) -> None:
        self._settings = settings
        self._onward = onward
        self._exchange = Exchange(settings)
        self.robots = Robots(self._exchange, settings)

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
        redirects and body, neither the wait for the host's turn nor robots.txt, which has limits of its own.

        Raises SourceRefused (URL_INVALID, URL_REFUSED, ROBOTS_DENIED, HTTP_STATUS, TOO_MANY_REDIRECTS,
        SOURCE_TOO_LARGE, EMPTY) and RetryLater (HOST_NOT_FOUND, FETCH_FAILED, FETCH_TIMEOUT, HTTP_STATUS,
        RATE_LIMITED).
        """
        try:
            conditions = _Conditions(urls.normalize(validated_url or url), validator(etag), validator(last_modified))
            return await self._follow(str(urls.parse(url)), conditions, "GET")
        except urls.InvalidUrl as error:
            raise SourceRefused(Code.URL_INVALID, str(error)) from error

    async def head(self, url: str) -> Fetched:
        """What the host says of the page, which has no body here. Raises as `fetch` does."""
        try:
            page = await self._follow(str(urls.parse(url)), _Conditions(urls.normalize(url)), "HEAD")
        except urls.InvalidUrl as error:
            raise SourceRefused(Code.URL_INVALID, str(error)) from error
        assert isinstance(page, Fetched)  # noqa: S101 - there was no condition
        return page

    async def checked(self, url: str) -> str:
        """The URL as it may be handed to another reader. Connects only to ask for robots.txt.

        Raises SourceRefused (URL_INVALID, URL_REFUSED, ROBOTS_DENIED), and RetryLater where that can't be known now.
        """
        try:
            address = str(urls.parse(url))
        except urls.InvalidUrl as error:
            raise SourceRefused(Code.URL_INVALID, str(error)) from error
        await self._exchange.check(address)
        await self._permit(address)
        return address

    async def aclose(self) -> None:
        """Closes all connections."""
        await self._exchange.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _follow(self, current: str, conditions: _Conditions, method: Method) -> Fetched | NotModified:
        passed: list[str] = []
        seconds = self._settings.total_seconds
        while True:
            await self._permit(current)
            bounds = Bounds(seconds, self._settings.max_bytes)
            answer = await self._exchange.ask(current, bounds, conditions.headers(current), method)
            outcome = self._outcome(current, answer, conditions, tuple(passed), method)
            if not isinstance(outcome, _Redirect):
                return outcome
            seconds -= answer.seconds
            passed.append(current)
            current = outcome.target
            if current in passed:
                raise SourceRefused(Code.TOO_MANY_REDIRECTS, f"The redirects come back to {current}.")
            if len(passed) > self._settings.max_redirects:
                raise SourceRefused(Code.TOO_MANY_REDIRECTS, f"More than {self._settings.max_redirects} redirects.")

    def _outcome(
        self, url: str, answer: Answer, conditions: _Conditions, passed: tuple[str, ...], method: Method
    ) -> Fetched | NotModified | _Redirect:
        if answer.target is not None:
            return _Redirect(answer.target)
        if answer.response.status_code == httpx.codes.NOT_MODIFIED:
            return conditions.unchanged(answer.response, passed)
        if not answer.body and method == "GET":
            raise SourceRefused(Code.EMPTY, f"{url} has an empty body.")
        page = fetched(urls.normalize(url), answer.response, answer.body, passed)
        target = self._onward(page)
        return page if target is None else _Redirect(target)

    async def _permit(self, url: str) -> None:
        if not await self.robots.allowed(url):
            raise SourceRefused(Code.ROBOTS_DENIED, f"The robots.txt of {urls.parse(url).authority} forbids {url}.")
