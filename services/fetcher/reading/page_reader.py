"""The reader of pages that the pipeline has: the chosen way first, the other one where it fails."""

from __future__ import annotations

import re
from collections.abc import Awaitable
from contextlib import suppress
from types import TracebackType
from typing import NamedTuple, Self, TypeVar
from urllib.parse import urlsplit

from schemas.codes import Code
from services.chassis.errors import RetryLater, SourceRefused
from services.fetcher.http.answers import Fetched, Gone, NotModified
from services.fetcher.http.fetching import DirectFetcher
from services.fetcher.http.settings import FetchSettings
from services.fetcher.reading.examination import Examined, examined
from services.fetcher.reading.jina import JinaReader
from services.fetcher.reading.refresh import refreshed_to
from services.fetcher.reading.settings import ReaderSettings

_DOCUMENT = re.compile(r"\.(?:pdf|docx?|docm|pptx?|pptm|xlsx?|xlsm|od[tsp]|rtf|epub|zip)$", re.IGNORECASE)
_PAGES = {None, "text/html", "application/xhtml+xml"}
# What another reader must not, or would not, change.
_FINAL = {Code.URL_INVALID, Code.URL_REFUSED, Code.ROBOTS_DENIED}

T = TypeVar("T")


class _Asked(NamedTuple):
    url: str
    etag: str | None
    last_modified: str | None
    validated_url: str | None


class PageReader:
    """Reads pages. One per process and event loop; to be closed, or used by `async with`.

    direct: fetches what is no page, such as a sitemap, by the same turns.
    """

    def __init__(self, settings: FetchSettings, reader: ReaderSettings) -> None:
        self.direct = DirectFetcher(settings, onward=refreshed_to)
        self._jina_first = settings.reader == "jina"
        self._fallback = settings.fallback
        wanted = self._jina_first or (settings.fallback and reader.given)
        self._jina = JinaReader(reader, settings.max_bytes) if wanted else None

    async def fetch(
        self,
        url: str,
        *,
        etag: str | None = None,
        last_modified: str | None = None,
        validated_url: str | None = None,
    ) -> Fetched | NotModified:
        """The page that the URL leads to, or that it is unchanged since the validators were given.

        Raises as `DirectFetcher.fetch` and `JinaReader.read` do, and SourceRefused (LOGIN_REQUIRED, ERROR_PAGE).
        """
        asked = _Asked(url, etag, last_modified, validated_url)
        if self._jina is None or (self._jina_first and await self._is_document(url)):
            return _page(await self._directly(asked))
        if self._jina_first:
            return await self._jina_then_direct(self._jina, asked)
        return await self._direct_then_jina(self._jina, asked)

    async def aclose(self) -> None:
        """Closes all connections."""
        await self.direct.aclose()
        if self._jina is not None:
            await self._jina.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _jina_then_direct(self, jina: JinaReader, asked: _Asked) -> Fetched | NotModified:
        try:
            return await self._through(jina, asked.url)
        except (SourceRefused, RetryLater) as error:
            if _is_final(error) or not self._fallback:
                raise
            return _page(await _instead(error, self._directly(asked)))

    async def _direct_then_jina(self, jina: JinaReader, asked: _Asked) -> Fetched | NotModified:
        try:
            found = await self._directly(asked)
        except (SourceRefused, RetryLater) as error:
            waits_for_turn = isinstance(error, RetryLater) and not error.counted
            is_no_page = error.code == Code.SOURCE_TOO_LARGE or _is_named_document(asked.url)
            if _is_final(error) or waits_for_turn or is_no_page:
                raise
            return await _instead(error, self._through(jina, asked.url))
        if isinstance(found, Examined) and found.by_scripts:
            with suppress(SourceRefused):
                return await self._through(jina, asked.url)
        return _page(found)

    async def _directly(self, asked: _Asked) -> Examined | NotModified:
        page = await self.direct.fetch(
            asked.url, etag=asked.etag, last_modified=asked.last_modified, validated_url=asked.validated_url
        )
        return page if isinstance(page, NotModified) else examined(page)

    async def _through(self, jina: JinaReader, url: str) -> Fetched:
        page = await jina.read(await self.direct.checked(url))
        return examined(page).page

    async def _is_document(self, url: str) -> bool:
        """Whether the host says that it is something that isn't drawn in a browser."""
        if _is_named_document(url):
            return True
        try:
            return (await self.direct.head(url)).media_type not in _PAGES
        except RetryLater:
            return False
        except SourceRefused as error:
            if error.code in _FINAL:
                raise
            return False  # Many hosts answer HEAD wrongly.


def _is_named_document(url: str) -> bool:
    return _DOCUMENT.search(urlsplit(url).path) is not None


def _is_final(error: SourceRefused | RetryLater) -> bool:
    return error.code in _FINAL or isinstance(error, Gone)


async def _instead(failed: SourceRefused | RetryLater, second: Awaitable[T]) -> T:
    """The second way's result. Of two failures that counts which is final, else that which may pass, else the first."""
    try:
        return await second
    except (SourceRefused, RetryLater) as error:
        if _is_final(error) or (isinstance(failed, SourceRefused) and isinstance(error, RetryLater)):
            raise
        raise failed from error


def _page(found: Examined | NotModified) -> Fetched | NotModified:
    return found if isinstance(found, NotModified) else found.page
