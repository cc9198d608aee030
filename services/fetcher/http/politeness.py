"""Turns at a host: few requests at a time, and a pause between their starts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from schemas.codes import Code
from services.chassis.errors import RetryLater

MOST_HOSTS = 10_000
# A host that asks for longer is asked again after this time: what it said of one page need not hold for all.
LONGEST_REST = 600.0
# Of a Crawl-delay: beyond it a site's pages would never be read within a day.
LONGEST_DELAY = 30.0


class _Host:
    def __init__(self, concurrency: int) -> None:
        self.slots = asyncio.Semaphore(concurrency)
        self.next_start = 0.0
        self.delay = 0.0
        self.users = 0


class HostTurns:
    """Gives each host's requests their turns. Remembers `most_hosts` hosts, and those in use beyond that.

    delay: seconds between two starts at a host. patience: seconds that a turn is waited for. One per process and loop.
    """

    def __init__(self, concurrency: int, delay: float, patience: float, most_hosts: int = MOST_HOSTS) -> None:
        self._concurrency = concurrency
        self._delay = delay
        self._patience = patience
        self._most_hosts = most_hosts
        self._hosts: dict[str, _Host] = {}

    @asynccontextmanager
    async def turn(self, host: str) -> AsyncIterator[None]:
        """Waits for the turn and holds it. Raises RetryLater(RATE_LIMITED) when the wait would be too long."""
        entry = self._entry(host)
        entry.users += 1
        try:
            await self._acquire(host, entry)
            try:
                yield
            finally:
                entry.slots.release()
        finally:
            entry.users -= 1

    def rest(self, host: str, seconds: float) -> None:
        """Leaves the host alone for a time, as it asked, at most for ten minutes."""
        entry = self._entry(host)
        entry.next_start = max(entry.next_start, time.monotonic() + min(seconds, LONGEST_REST))

    def slow_down(self, host: str, delay: float) -> None:
        """Lets at least so many seconds pass between two starts at the host, at most half a minute."""
        self._entry(host).delay = min(delay, LONGEST_DELAY)

    def __len__(self) -> int:
        return len(self._hosts)

    def _entry(self, host: str) -> _Host:
        if host not in self._hosts:
            self._forget()
            self._hosts[host] = _Host(self._concurrency)
        return self._hosts[host]

    def _forget(self) -> None:
        """Makes room: first all hosts whose pause is over, then those known the longest. None that is in use."""
        if len(self._hosts) < self._most_hosts:
            return
        now = time.monotonic()
        self._hosts = {name: entry for name, entry in self._hosts.items() if entry.users or entry.next_start > now}
        idle = [name for name, entry in self._hosts.items() if not entry.users]
        for name in idle[: max(0, len(self._hosts) - self._most_hosts + 1)]:
            del self._hosts[name]

    async def _acquire(self, host: str, entry: _Host) -> None:
        try:
            async with asyncio.timeout(self._patience):
                await entry.slots.acquire()
                try:
                    await self._pause(host, entry)
                except BaseException:
                    entry.slots.release()
                    raise
        except TimeoutError:
            raise _busy(host, self._patience) from None

    async def _pause(self, host: str, entry: _Host) -> None:
        now = time.monotonic()
        start = max(now, entry.next_start)
        if start - now > self._patience:
            raise _busy(host, start - now)
        entry.next_start = start + max(self._delay, entry.delay)
        if start > now:
            await asyncio.sleep(start - now)


def _busy(host: str, after: float) -> RetryLater:
    return RetryLater(Code.RATE_LIMITED, f"{host} is asked as often as it may be.", after=after, counted=False)
