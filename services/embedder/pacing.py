"""Keeping below a provider's limits of requests and tokens a minute, and out of its way when it asks for that."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable

from services.encoder.errors import EncoderUnavailable

MINUTE = 60.0

Clock = Callable[[], float]
Sleep = Callable[[float], Awaitable[None]]


class MinuteLimit:
    """What was taken in the last minute. No minute sees more than the limit, wherever it begins.

    A provider that fills a bucket, one that counts by the clock's minute and one that looks back are all content with
    that. An amount above the limit is let through when the last minute was empty: it could never be otherwise.
    """

    def __init__(self, per_minute: int) -> None:
        self._limit = per_minute
        self._taken: deque[tuple[float, int]] = deque()
        self._total = 0

    def delay(self, amount: int, now: float) -> float:
        """The seconds until so much can be taken."""
        while self._taken and self._taken[0][0] <= now - MINUTE:
            self._total -= self._taken.popleft()[1]
        surplus, delay = self._total + amount - self._limit, 0.0
        for at, taken in self._taken:
            if surplus <= 0:
                break
            surplus, delay = surplus - taken, at + MINUTE - now
        return delay

    def take(self, amount: int, now: float) -> None:
        """Take so much, whether or not it is there."""
        self._taken.append((now, amount))
        self._total += amount


class Pacer:
    """Lets requests pass one after the other, in the order in which they came. One for each provider and process."""

    def __init__(
        self,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        *,
        clock: Clock = time.monotonic,
        sleep: Sleep = asyncio.sleep,
        longest_wait: float = math.inf,
    ) -> None:
        """None stands for no limit. `longest_wait` is in seconds."""
        self._longest_wait = longest_wait
        self._requests = MinuteLimit(requests_per_minute) if requests_per_minute else None
        self._tokens = MinuteLimit(tokens_per_minute) if tokens_per_minute else None
        self._clock, self._sleep = clock, sleep
        self._paused_until = clock()
        self._turn = asyncio.Lock()

    async def pass_request(self, tokens: int) -> None:
        """Wait until a request of so many tokens may be sent, and count it as sent.

        EncoderUnavailable where that is longer than the longest wait: then the whole stage waits, and says so.
        """
        async with self._turn:
            # What was waited for can have moved meanwhile: a pause may have come.
            while (delay := self._delay(tokens)) > 0:
                if delay > self._longest_wait:
                    raise EncoderUnavailable("the provider's limit for a minute is used up, or it asked to wait", delay)
                await self._sleep(delay)
            for limit, amount in self._limits(tokens):
                limit.take(amount, self._clock())

    def pause(self, seconds: float) -> None:
        """Let nothing pass for so long. A shorter pause does not end a longer one."""
        self._paused_until = max(self._paused_until, self._clock() + seconds)

    def _delay(self, tokens: int) -> float:
        now = self._clock()
        return max(self._paused_until - now, *(limit.delay(amount, now) for limit, amount in self._limits(tokens)), 0.0)

    def _limits(self, tokens: int) -> list[tuple[MinuteLimit, int]]:
        amounts = ((self._requests, 1), (self._tokens, tokens))
        return [(limit, amount) for limit, amount in amounts if limit is not None]
