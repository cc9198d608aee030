"""What a process does again and again."""

from __future__ import annotations

import asyncio

import pytest

from schemas.codes import Code
from services.chassis.errors import DependencyDown
from services.chassis.process import Process


async def test_turns_go_on_when_a_dependency_is_down_and_end_with_any_other_error() -> None:
    process = Process("test")
    outcomes = [None, DependencyDown(Code.POSTGRES_DOWN, "away"), None, ValueError("wrong")]
    taken = 0

    async def turn() -> int:
        nonlocal taken
        taken += 1
        if (outcome := outcomes[taken - 1]) is not None:
            raise outcome
        return taken

    process.repeat(turn, 0.001)
    async with asyncio.timeout(10):
        with pytest.raises(ValueError, match="wrong"):
            await process.background[-1]()
    assert taken == 4
