"""Reading a page by a service that draws it in a browser: Jina Reader, or one that speaks as it does."""

from __future__ import annotations

import asyncio
import time
from http import HTTPStatus

import httpx
import structlog

from schemas import urls
from schemas.codes import Code
from services.chassis.errors import RetryLater, SourceRefused
from services.fetcher.http.answers import Fetched, content_type, described, fetched, retry_after
from services.fetcher.http.decoding import ACCEPTED_ENCODINGS, read_body
from services.fetcher.reading.settings import ReaderSettings

log = structlog.get_logger()

_REFUSALS = {HTTPStatus.UNAUTHORIZED, HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.FORBIDDEN}
# Where it says that it is asked too often, but not for how long.
_REST = 10.0


class JinaReader:
    """Asks the service. One per process and event loop; to be closed.

    Its own address is trusted. That of a page is not, and is to be checked before it is handed over.
    """

    def __init__(self, settings: ReaderSettings, max_bytes: int) -> None:
        self._base = str(settings.url).rstrip("/")
        self._seconds = settings.seconds
        self._max_bytes = max_bytes
        self._rests_until = 0.0
        self._refusal_logged = False
        headers = {"Accept": "text/html", "X-Respond-With": "html", "Accept-Encoding": ACCEPTED_ENCODINGS}
        if key := settings.key.get_secret_value():
            headers["Authorization"] = f"Bearer {key}"
        self._client = httpx.AsyncClient(headers=headers, timeout=settings.seconds, trust_env=False)

    async def read(self, url: str) -> Fetched:
        """The page as a browser draws it, as HTML in UTF-8, without validators. `url` is in normal form.

        Raises SourceRefused (HTTP_STATUS, SOURCE_TOO_LARGE, EMPTY) and RetryLater (FETCH_FAILED, FETCH_TIMEOUT,
        HTTP_STATUS, RATE_LIMITED).
        """
        left = self._rests_until - time.monotonic()
        if left > 0:
            raise RetryLater(Code.RATE_LIMITED, "The reader is asked as often as it may be.", left, counted=False)
        try:
            async with (
                asyncio.timeout(self._seconds),
                self._client.stream("GET", f"{self._base}/{url}") as response,
            ):
                if not response.is_success:
                    raise self._failure(url, response)
                encoding = response.headers.get("content-encoding", "")
                body = await read_body(response.aiter_raw(), encoding, self._max_bytes)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise RetryLater(Code.FETCH_TIMEOUT, "The reader took too long.") from error
        except (httpx.TransportError, OSError) as error:
            raise RetryLater(Code.FETCH_FAILED, f"The reader could not be read: {error}") from error
        self._refusal_logged = False
        return _page(url, response, body)

    async def aclose(self) -> None:
        """Closes all connections."""
        await self._client.aclose()

    def _failure(self, url: str, response: httpx.Response) -> SourceRefused | RetryLater:
        status = response.status_code
        reason = f"{described(status)} from the reader for {url}"
        if status in _REFUSALS:
            if not self._refusal_logged:
                log.warning("the reader refuses: check its key and balance", status=status, reader=self._base)
                self._refusal_logged = True
            return RetryLater(Code.FETCH_FAILED, reason)
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            after = retry_after(response.headers.get("retry-after", ""))
            after = _REST if after is None else after
            self._rests_until = time.monotonic() + after
            return RetryLater(Code.RATE_LIMITED, reason, after)
        # 422 is its word for a page that it could not load this time.
        if status >= 500 or status in {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.UNPROCESSABLE_ENTITY} or status < 400:
            return RetryLater(Code.HTTP_STATUS, reason)
        return SourceRefused(Code.HTTP_STATUS, reason)


def _page(url: str, response: httpx.Response, body: bytes) -> Fetched:
    if not body.strip():
        raise SourceRefused(Code.EMPTY, f"The reader finds nothing at {url}.")
    media_type, _ = content_type(response.headers.get("content-type", "text/html"))
    if media_type not in {"text/html", "application/xhtml+xml"}:
        raise RetryLater(Code.FETCH_FAILED, f"The reader answers with {media_type}, not with HTML.")
    answer = httpx.Response(response.status_code, headers={"Content-Type": f"{media_type}; charset=utf-8"})
    return fetched(urls.normalize(url), answer, body, ())
