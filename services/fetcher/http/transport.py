"""The transport of an httpx client whose connections go to checked addresses only."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import cast

import httpcore
import httpx

from schemas import urls
from services.fetcher.http.backend import CheckedBackend
from services.fetcher.http.settings import FetchSettings

_IDLE_SECONDS = 5.0
_FAILURES = (
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
)
_HTTPX_ERRORS: dict[type[Exception], type[httpx.TransportError]] = {
    httpcore.ConnectTimeout: httpx.ConnectTimeout,
    httpcore.ReadTimeout: httpx.ReadTimeout,
    httpcore.WriteTimeout: httpx.WriteTimeout,
    httpcore.PoolTimeout: httpx.PoolTimeout,
    httpcore.ConnectError: httpx.ConnectError,
    httpcore.ReadError: httpx.ReadError,
    httpcore.WriteError: httpx.WriteError,
    httpcore.LocalProtocolError: httpx.LocalProtocolError,
    httpcore.RemoteProtocolError: httpx.RemoteProtocolError,
    httpcore.UnsupportedProtocol: httpx.UnsupportedProtocol,
}


class CheckedTransport(httpx.AsyncBaseTransport):
    """HTTP/1.1 over a pool with a checked backend.

    httpx's own transport takes no backend, and turning URLs into addresses above it would let two hosts at one address
    share a TLS connection.
    """

    def __init__(self, settings: FetchSettings) -> None:
        self._backend = CheckedBackend(httpcore.AnyIOBackend(), settings.allow_networks, settings.ports)
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=_ssl_context(settings),
            max_connections=settings.max_connections,
            max_keepalive_connections=settings.max_connections // 2,
            keepalive_expiry=_IDLE_SECONDS,
            network_backend=self._backend,
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Raises httpx's transport errors, and what `CheckedBackend.connect_tcp` raises."""
        url = httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        with _as_httpx_errors():
            answer = await self._pool.handle_async_request(
                httpcore.Request(
                    request.method,
                    url,
                    headers=request.headers.raw,
                    content=cast(httpx.AsyncByteStream, request.stream),
                    extensions=request.extensions,
                )
            )
        return httpx.Response(
            answer.status,
            headers=answer.headers,
            stream=_Body(cast(httpx.AsyncByteStream, answer.stream)),
            extensions=answer.extensions,
        )

    async def check(self, url: str, timeout: float) -> None:
        """Raises what a request to the URL would raise before it connects."""
        address = urls.parse(url)
        with _as_httpx_errors():
            await self._backend.checked(
                address.host.strip("[]"), address.port or urls.DEFAULT_PORTS[address.scheme], timeout
            )

    async def aclose(self) -> None:
        await self._pool.aclose()


class _Body(httpx.AsyncByteStream):
    def __init__(self, stream: httpx.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _as_httpx_errors():
            async for part in self._stream:
                yield part

    async def aclose(self) -> None:
        with _as_httpx_errors():
            await self._stream.aclose()


@contextmanager
def _as_httpx_errors() -> Iterator[None]:
    try:
        yield
    except _FAILURES as error:
        raise _HTTPX_ERRORS.get(type(error), httpx.TransportError)(str(error)) from error


def _ssl_context(settings: FetchSettings) -> ssl.SSLContext:
    context = httpx.create_ssl_context(trust_env=False)
    if settings.ca_file is not None:
        context.load_verify_locations(cafile=settings.ca_file)
    return context
