"""What tests need of the machine, and how they wait for it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NoReturn

import pytest


def require(reason: str | None) -> None:
    """Skips the test for this reason, and fails it in CI, where nothing may be missing. None means all is there."""
    if reason is not None:
        _give_up(reason)


def _give_up(reason: str) -> NoReturn:
    if os.environ.get("CI", "").lower() in {"1", "true"}:
        pytest.fail(f"CI has to have it: {reason}", pytrace=False)
    pytest.skip(reason)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits for its parent does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return False


def eventually(condition: Callable[[], object], seconds: float = 10.0) -> None:
    """Polls until the condition is true. Fails the test if it is not within that many seconds."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail(f"not within {seconds:g} s: {condition}")
        time.sleep(0.02)


async def eventually_async(condition: Callable[[], Awaitable[object]], seconds: float = 10.0) -> None:
    """The same for a condition that has to be awaited."""
    deadline = time.monotonic() + seconds
    while not await condition():
        if time.monotonic() > deadline:
            pytest.fail(f"not within {seconds:g} s: {condition}")
        await asyncio.sleep(0.02)
