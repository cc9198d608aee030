"""A host is asked seldom and by few at a time; others don't wait for it."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise

import pytest

from schemas.codes import Code
from services.chassis.errors import RetryLater
from services.fetcher.http.politeness import HostTurns


class _Count:
    now = most = 0


async def _hold(turns: HostTurns, host: str, count: _Count, seconds: float = 0.01) -> None:
    async with turns.turn(host):
        count.now += 1
        count.most = max(count.most, count.now)
        await asyncio.sleep(seconds)
        count.now -= 1


async def test_few_at_a_time() -> None:
    turns, count = HostTurns(concurrency=3, delay=0, patience=10), _Count()
    await asyncio.gather(*(_hold(turns, "a", count) for _ in range(20)))
    assert count.most == 3


async def test_a_pause_between_starts() -> None:
    turns, starts = HostTurns(concurrency=10, delay=0.05, patience=10), []

    async def start() -> None:
        async with turns.turn("a"):
            starts.append(time.monotonic())

    await asyncio.gather(*(start() for _ in range(5)))
    assert all(later - earlier >= 0.045 for earlier, later in pairwise(starts))


async def test_hosts_do_not_wait_for_each_other() -> None:
    turns, count = HostTurns(concurrency=1, delay=60, patience=10), _Count()
    await asyncio.gather(*(_hold(turns, f"host{number}", count) for number in range(5)))
    assert count.most == 5


async def test_patience_ends() -> None:
    turns = HostTurns(concurrency=1, delay=0, patience=0.05)
    async with turns.turn("a"):
        with pytest.raises(RetryLater) as busy:
            async with turns.turn("a"):
                pass
    assert busy.value.code == Code.RATE_LIMITED
    await _hold(turns, "a", _Count())


async def test_a_pause_longer_than_the_patience_is_not_waited_for() -> None:
    turns, started = HostTurns(concurrency=1, delay=0, patience=5), time.monotonic()
    turns.rest("a", 100)
    with pytest.raises(RetryLater) as busy:
        async with turns.turn("a"):
            pass
    assert busy.value.after == pytest.approx(100, abs=1)
    assert time.monotonic() - started < 1


async def test_a_cancelled_wait_leaves_its_slot() -> None:
    turns = HostTurns(concurrency=1, delay=0.1, patience=10)
    await _hold(turns, "a", _Count())
    waiting = asyncio.create_task(_hold(turns, "a", _Count()))
    await asyncio.sleep(0.02)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await asyncio.wait_for(_hold(turns, "a", _Count()), 5)


async def test_an_error_inside_gives_the_turn_back() -> None:
    turns = HostTurns(concurrency=1, delay=0, patience=1)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            async with turns.turn("a"):
                raise ZeroDivisionError


async def test_memory_is_bounded() -> None:
    turns = HostTurns(concurrency=1, delay=3_600, patience=0.05, most_hosts=50)
    async with turns.turn("kept"):
        for number in range(500):
            turns.rest(f"host{number}", 3_600)
        assert len(turns) <= 50
        with pytest.raises(RetryLater):
            async with turns.turn("kept"):
                pass


async def test_hosts_in_use_are_never_forgotten() -> None:
    turns, count = HostTurns(concurrency=1, delay=0, patience=10, most_hosts=2), _Count()
    await asyncio.gather(*(_hold(turns, f"host{number % 10}", count) for number in range(40)))
    assert count.most == 10
