"""No minute sees more than its limit, and a pause holds everyone."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.embedder.pacing import Pacer
from services.encoder.errors import EncoderUnavailable


class Time:
    """A clock that goes on only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


def paced(amounts: list[int], requests: int | None, tokens: int | None) -> list[float]:
    """When each request passed, in seconds from the start."""
    time = Time()

    async def run() -> list[float]:
        pacer = Pacer(requests, tokens, clock=time.clock, sleep=time.sleep)
        passed = []
        for amount in amounts:
            await pacer.pass_request(amount)
            passed.append(time.now - 1_000.0)
        return passed

    return asyncio.run(run())


@given(
    st.lists(st.integers(1, 100), max_size=60),
    st.one_of(st.none(), st.integers(1, 20)),
    st.one_of(st.none(), st.integers(100, 500)),
)
def test_no_minute_is_above_a_limit(amounts: list[int], requests: int | None, tokens: int | None) -> None:
    passed = paced(amounts, requests, tokens)
    for begin in passed:
        minute = [amount for at, amount in zip(passed, amounts, strict=True) if begin <= at < begin + 59.999]
        assert requests is None or len(minute) <= requests
        assert tokens is None or sum(minute) <= tokens


def test_without_limits_nothing_waits() -> None:
    assert paced([10**9] * 5, None, None) == [0] * 5


def test_the_limit_is_used_up_before_anything_waits() -> None:
    assert paced([40, 40, 20, 1], None, 100) == [0, 0, 0, 60]
    assert paced([1] * 7, 3, None) == [0, 0, 0, 60, 60, 60, 120]


def test_a_request_above_the_limit_goes_when_the_minute_was_empty() -> None:
    assert paced([10, 500, 10], None, 100) == [0, 60, 120]


async def test_a_pause_holds_everyone_and_a_shorter_one_does_not_end_it() -> None:
    time = Time()
    pacer = Pacer(clock=time.clock, sleep=time.sleep)
    pacer.pause(30)
    pacer.pause(5)
    await pacer.pass_request(1)
    assert time.now == 1_030


async def test_a_pause_that_comes_while_one_waits_counts_too() -> None:
    time = Time()
    pauses = [20.0]

    async def sleep(seconds: float) -> None:
        time.now += seconds
        if pauses:
            pacer.pause(pauses.pop())

    pacer = Pacer(clock=time.clock, sleep=sleep)
    pacer.pause(10)
    await pacer.pass_request(1)
    assert time.now == 1_030


async def test_requests_pass_in_the_order_in_which_they_came() -> None:
    time = Time()
    pacer = Pacer(1, clock=time.clock, sleep=time.sleep)
    passed: list[int] = []

    async def request(number: int) -> None:
        await pacer.pass_request(1)
        passed.append(number)

    await asyncio.gather(*(request(number) for number in range(5)))
    assert passed == [0, 1, 2, 3, 4]


async def test_who_is_cancelled_while_waiting_takes_nothing() -> None:
    pacer = Pacer(1)
    await pacer.pass_request(1)
    waiting = asyncio.create_task(pacer.pass_request(1))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert not pacer._turn.locked()


async def test_a_wait_above_the_longest_is_refused_and_nothing_is_counted() -> None:
    pacer = Pacer(requests_per_minute=1, longest_wait=5.0)
    await pacer.pass_request(10)
    with pytest.raises(EncoderUnavailable) as refused:
        await pacer.pass_request(10)
    assert refused.value.retry_after is not None
    assert 50 < refused.value.retry_after <= 60
