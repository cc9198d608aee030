"""Connections to checked addresses: the name is resolved once, and what was checked is what is connected to."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable, Sequence

import httpcore

from schemas.codes import Code
from services.chassis.errors import RetryLater, SourceRefused
from services.fetcher.http.addresses import Network, is_listed, is_public

# A host can have many addresses. More are not tried, so that dead ones can't use up the whole time.
MOST_ADDRESSES = 4
_NO_SUCH_NAME = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}


class CheckedBackend(httpcore.AsyncNetworkBackend):
    """The network as a connection pool sees it, without the addresses that are not public.

    allow: networks that may be reached on any port though they are not public. ports: the others' ports.
    """

    def __init__(self, inner: httpcore.AsyncNetworkBackend, allow: Sequence[Network], ports: Iterable[int]) -> None:
        self._inner = inner
        self._allow = tuple(allow)
        self._ports = frozenset(ports)

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Raises SourceRefused(URL_REFUSED), RetryLater(HOST_NOT_FOUND, FETCH_FAILED), and httpcore's errors."""
        addresses = await self.checked(host, port, timeout)
        failure: Exception = httpcore.ConnectError(f"{host} has no address")
        for address in addresses[:MOST_ADDRESSES]:
            try:
                # A numeric address: nothing below looks a name up again.
                return await self._inner.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    async def checked(self, host: str, port: int, timeout: float | None) -> list[str]:
        """The addresses of the host, all of which may be connected to. Raises as `connect_tcp` does before it does."""
        addresses = await _look_up(host, port, timeout)
        self._check(host, port, addresses)
        return addresses

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None
    ) -> httpcore.AsyncNetworkStream:
        """Always raises SourceRefused(URL_REFUSED)."""
        raise SourceRefused(Code.URL_REFUSED, "Unix sockets are not public.")

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)

    def _check(self, host: str, port: int, addresses: Sequence[str]) -> None:
        # One bad address condemns the name: which of them answers is up to whoever owns it.
        if all(is_listed(address, self._allow) for address in addresses):
            return
        if not all(is_public(address) or is_listed(address, self._allow) for address in addresses):
            raise SourceRefused(Code.URL_REFUSED, f"{host} leads to an address that is not public.")
        if port not in self._ports:
            raise SourceRefused(Code.URL_REFUSED, f"Port {port} of {host} is not among those that are fetched from.")


async def _look_up(host: str, port: int, timeout: float | None) -> list[str]:
    """The numeric addresses of the host, each once, in the resolver's order."""
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(timeout):
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except TimeoutError as error:
        raise httpcore.ConnectTimeout(f"looking up {host} took too long") from error
    except socket.gaierror as error:
        if error.errno in _NO_SUCH_NAME:
            raise RetryLater(Code.HOST_NOT_FOUND, f"There is no host {host}.") from error
        raise RetryLater(Code.FETCH_FAILED, f"{host} can't be looked up: {error.strerror}.") from error
    except UnicodeError as error:
        raise RetryLater(Code.HOST_NOT_FOUND, f"{host} is no host name.") from error
    addresses = list(dict.fromkeys(_numeric(info[4]) for info in found))
    if not addresses:
        raise RetryLater(Code.HOST_NOT_FOUND, f"{host} has no address.")
    return addresses


def _numeric(sockaddr: tuple[object, ...]) -> str:
    # The zone of an IPv6 address can come as a number beside it; it must not get lost before the check.
    zone = sockaddr[3] if len(sockaddr) == 4 else 0
    return f"{sockaddr[0]}%{zone}" if zone and "%" not in str(sockaddr[0]) else str(sockaddr[0])
