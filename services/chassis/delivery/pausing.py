"""Waiting in place while a dependency is down."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable

import structlog

from services.chassis import metrics
from services.chassis.errors import DependencyDown
from services.chassis.settings import DeliverySettings

log = structlog.get_logger()

_TELL_EVERY = 15.0
_LONGEST = 3600.0  # whatever the other side asks for

OnPause = Callable[[DependencyDown], Awaitable[None]]
"""Is told, at the beginning and every few seconds, that the group waits, so that leases of its work can be kept."""


class Pauser:
    """Pauses of one group. They grow while nothing succeeds, and end at once when work has to be given up."""

    def __init__(self, group: str, settings: DeliverySettings, on_pause: OnPause | None) -> None:
        self._group = group
        self._settings = settings
        self._on_pause = on_pause
        self._failures = 0
        self.paused = False

    def succeeded(self) -> None:
        """A message went through: the dependencies are there."""
        if self._failures:
            log.info("going on", group=self._group)
        self._failures = 0
        self.paused = False
        metrics.PAUSED.labels(self._group).set(0)

    async def wait(self, error: DependencyDown, given_up: asyncio.Event) -> None:
        """Wait as long as the error says, or longer each time, or until `given_up` is set."""
        self.paused = True
        metrics.PAUSES.labels(self._group, error.code).inc()
        metrics.PAUSED.labels(self._group).set(1)
        if not self._failures:
            log.warning("waiting for a dependency", group=self._group, code=error.code, reason=error.reason)
        self._failures += 1
        grown = self._settings.pause * 2 ** min(self._failures - 1, 10)
        seconds = max(error.after or 0.0, min(self._settings.longest_pause, grown) * random.uniform(0.5, 1.0))
        ending = time.monotonic() + min(seconds, _LONGEST)
        while (left := ending - time.monotonic()) > 0 and not given_up.is_set():
            await asyncio.gather(self._tell(error), _sleep(min(left, _TELL_EVERY), given_up))
        if given_up.is_set():
            self.paused = False

    async def _tell(self, error: DependencyDown) -> None:
        if self._on_pause is not None:
            try:
                await self._on_pause(error)
            except DependencyDown:
                log.debug("nobody could be told of the pause", group=self._group)


async def _sleep(seconds: float, given_up: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(seconds):
            await given_up.wait()
    except TimeoutError:
        pass
