"""Many small calls at the same time become one: handlers stay simple, and the database sees sets."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, TypeVar

from services.chassis.errors import KnowledgeBaseError

Item = TypeVar("Item")
Result = TypeVar("Result")


class Coalescer(Generic[Item, Result]):
    """Calls that arrive while another is running are run together when it ends. An idle one starts at once.

    `run` takes the items and gives one result for each, in order, all or nothing. When it raises for several items,
    each is run alone, so that an item's fault stays its own; an error of the `KnowledgeBaseError` tree holds for all.
    """

    def __init__(
        self,
        run: Callable[[Sequence[Item]], Awaitable[Sequence[Result]]],
        *,
        most: int,
        weight: Callable[[Item], int] = lambda _: 1,
        concurrency: int = 1,
    ) -> None:
        """`most` is the weight that is run together, unless one item alone is heavier."""
        self._run = run
        self._most = most
        self._weight = weight
        self._concurrency = concurrency
        self._waiting: deque[tuple[Item, asyncio.Future[Result]]] = deque()
        self._running = 0
        self._tasks: set[asyncio.Task[None]] = set()  # the loop alone would let them be collected

    async def __call__(self, item: Item) -> Result:
        """The result for this item. Raises what `run` raises for it."""
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._running < self._concurrency:
            self._running += 1
            task = asyncio.create_task(self._work())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await future

    async def _work(self) -> None:
        try:
            await self._run_all()
        finally:
            # In the same step as the last look at what waits: a call that comes now starts a runner of its own.
            self._running -= 1

    async def _run_all(self) -> None:
        while self._waiting:
            taken = [self._waiting.popleft()]
            left = self._most - self._weight(taken[0][0])
            while self._waiting and (left := left - self._weight(self._waiting[0][0])) >= 0:
                taken.append(self._waiting.popleft())
            await self._settle([entry for entry in taken if not entry[1].done()])

    async def _settle(self, entries: list[tuple[Item, asyncio.Future[Result]]]) -> None:
        try:
            results = await self._run([item for item, _ in entries]) if entries else []
        except KnowledgeBaseError as error:
            for _, future in entries:
                _fail(future, error)
        except Exception as error:  # noqa: BLE001  # handed to the callers, who wait for it
            if len(entries) == 1:
                _fail(entries[0][1], error)
            else:
                for entry in entries:
                    await self._settle([entry])
        except asyncio.CancelledError:
            for _, future in entries:
                future.cancel()
            raise
        else:
            for (_, future), result in zip(entries, results, strict=True):
                if not future.done():
                    future.set_result(result)


def _fail(future: asyncio.Future[Any], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
