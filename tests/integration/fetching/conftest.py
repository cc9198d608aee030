"""Names without a resolver, and a look at every connection that is opened."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Any

import pytest

from services.fetcher.http.fetching import DirectFetcher
from services.fetcher.http.settings import FetchSettings
from tests.support.web import WebServer

LOOPBACK = (ip_network("127.0.0.0/8"),)


@dataclass
class Network:
    """The network as the event loop sees it.

    names: a host's answers, one look-up after the other, the last one for good. routes: where a connection to an
    address and port really ends. connections: every address and port that a connection was opened to.
    """

    names: dict[str, list[list[str]]] = field(default_factory=dict)
    routes: dict[tuple[str, int], int] = field(default_factory=dict)
    lookups: list[str] = field(default_factory=list)
    connections: list[tuple[str, int]] = field(default_factory=list)

    def answer(self, host: str) -> list[str] | None:
        """The addresses of this look-up, None for an unknown host."""
        self.lookups.append(host)
        answers = self.names.get(host, [])
        return answers.pop(0) if len(answers) > 1 else (answers[0] if answers else None)


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Network:
    """Nothing leaves the machine: only `routes` lead somewhere, and only `names` and numbers are known."""
    seen = Network()
    real_connect = asyncio.selector_events.BaseSelectorEventLoop.sock_connect
    real_lookup = asyncio.base_events.BaseEventLoop.getaddrinfo

    async def connect(loop: Any, sock: socket.socket, address: tuple[Any, ...]) -> None:
        place = (str(address[0]), int(address[1]))
        seen.connections.append(place)
        if place not in seen.routes:
            raise ConnectionRefusedError(f"nothing at {place}")
        await real_connect(loop, sock, ("127.0.0.1", seen.routes[place]))

    async def look_up(loop: Any, host: str, port: int, **options: Any) -> list[Any]:
        addresses = seen.answer(host)
        if addresses is None:
            return await real_lookup(loop, host, port, **{**options, "flags": socket.AI_NUMERICHOST})
        return [_info(address, port) for address in addresses]

    monkeypatch.setattr(asyncio.selector_events.BaseSelectorEventLoop, "sock_connect", connect)
    monkeypatch.setattr(asyncio.base_events.BaseEventLoop, "getaddrinfo", look_up)
    return seen


@pytest.fixture
async def web() -> AsyncIterator[WebServer]:
    """A server on loopback."""
    async with WebServer() as server:
        yield server


@pytest.fixture
async def fetcher() -> AsyncIterator[DirectFetcher]:
    """A fetcher that may go to loopback, with short limits and without pauses."""
    async with DirectFetcher(settings()) as made:
        yield made


def settings(**changes: Any) -> FetchSettings:
    """Settings for loopback with short limits and without a look at robots.txt, and the changes."""
    short = {
        "allow_networks": LOOPBACK,
        "host_delay_seconds": 0,
        "total_seconds": 5,
        "max_bytes": 2**20,
        "robots": False,
    }
    return FetchSettings(**{**short, **changes})


def _info(address: str, port: int) -> tuple[Any, ...]:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    place = (address, port, 0, 0) if ":" in address else (address, port)
    return (family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", place)
