"""Calls that come together run together, and an error stays with its item."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from schemas.codes import Code
from services.chassis.coalescing import Coalescer
from services.chassis.errors import DependencyDown


async def test_an_idle_one_runs_at_once_and_calls_meanwhile_run_together() -> None:
    runs: list[list[int]] = []

    async def double(items: Sequence[int]) -> list[int]:
        runs.append(list(items))
        await asyncio.sleep(0.01)
        return [2 * item for item in items]

    call = Coalescer(double, most=100)
    first = asyncio.create_task(call(1))
    await asyncio.sleep(0.002)
    others = [asyncio.create_task(call(item)) for item in range(2, 6)]
    assert await asyncio.gather(first, *others) == [2, 4, 6, 8, 10]
    assert runs == [[1], [2, 3, 4, 5]]


async def test_a_call_in_the_very_step_in_which_a_run_ends_is_not_forgotten() -> None:
    async def same(items: Sequence[int]) -> Sequence[int]:
        return items

    call = Coalescer(same, most=2)

    async def many(start: int) -> None:
        for item in range(start, start + 200):
            async with asyncio.timeout(5):
                assert await call(item) == item

    await asyncio.gather(*(many(1000 * n) for n in range(5)))


async def test_the_weight_bounds_what_runs_together_but_not_a_heavy_item_alone() -> None:
    runs: list[list[int]] = []

    async def note(items: Sequence[int]) -> Sequence[int]:
        runs.append(list(items))
        await asyncio.sleep(0)
        return items

    call = Coalescer(note, most=10, weight=lambda item: item)
    await asyncio.gather(*(call(item) for item in (6, 4, 1, 50, 9)))
    assert runs == [[6, 4], [1], [50], [9]]


async def test_an_items_error_is_its_own() -> None:
    async def invert(items: Sequence[int]) -> list[float]:
        return [1 / item for item in items]

    call = Coalescer(invert, most=10)
    found = await asyncio.gather(*(call(item) for item in (1, 0, 2)), return_exceptions=True)
    assert found[0] == 1
    assert isinstance(found[1], ZeroDivisionError)
    assert found[2] == 0.5


async def test_a_dependency_that_is_down_is_down_for_all_and_asked_once() -> None:
    calls = 0

    async def fail(items: Sequence[int]) -> list[int]:
        nonlocal calls
        calls += 1
        raise DependencyDown(Code.POSTGRES_DOWN, "away")

    call = Coalescer(fail, most=10)
    found = await asyncio.gather(*(call(item) for item in range(4)), return_exceptions=True)
    assert all(isinstance(error, DependencyDown) for error in found)
    assert calls == 1


async def test_a_caller_that_is_cancelled_does_not_hurt_the_others() -> None:
    gate = asyncio.Event()

    async def wait(items: Sequence[int]) -> Sequence[int]:
        await gate.wait()
        return items

    call = Coalescer(wait, most=10)
    tasks = [asyncio.create_task(call(item)) for item in range(3)]
    await asyncio.sleep(0)
    tasks[1].cancel()
    gate.set()
    assert await tasks[0] == 0
    assert await tasks[2] == 2
    with pytest.raises(asyncio.CancelledError):
        await tasks[1]
