"""Parsing and chunking in processes that can be killed: each task has a time limit, each process a memory limit."""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
from collections.abc import Callable
from concurrent.futures import TimeoutError as FutureTimeout
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

from pebble import ProcessExpired, ProcessPool

from schemas.codes import Code
from services.chassis.errors import RetryLater, SourceRefused
from services.chunker.blocks import Document
from services.chunker.chunking import SOURCE_TOKENS
from services.chunker.job import ChunkedDocument, Source, guarded, lay, prepare, read
from services.chunker.presets import Preset

P = ParamSpec("P")
R = TypeVar("R")

_STOP_SECONDS = 5


class ParsingPool:
    """A pool of `workers` processes, each replaced after `tasks_per_worker` tasks, and after one that went wrong.

    Every call raises SourceRefused: with the parser's own code, PARSE_TIMEOUT after `seconds`, PARSE_MEMORY above
    `memory_bytes` of address space, or BROKEN when the document made the process crash.
    """

    def __init__(
        self,
        *,
        workers: int = 2,
        seconds: float = 20.0,
        memory_bytes: int = 1 << 30,
        tasks_per_worker: int = 500,
    ) -> None:
        self._seconds = seconds
        self._waiting: set[asyncio.Future[Any]] = set()
        self._closed = False
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["services.chunker.job"])
        self._pool = ProcessPool(
            max_workers=workers,
            max_tasks=tasks_per_worker,
            initializer=prepare,
            initargs=(memory_bytes,),
            context=context,
        )

    async def parse_and_chunk(
        self,
        body: bytes | Path,
        *,
        preset: Preset,
        media_type: str | None = None,
        charset: str | None = None,
        name: str | None = None,
        url: str | None = None,
        limit: int | None = SOURCE_TOKENS,
    ) -> ChunkedDocument:
        """Parse a source, given as bytes or as the file that has them, and cut it into chunks."""
        source = Source(body, media_type, charset, name, url)
        return (await self.run(lay, source, preset, limit)).unpacked()

    async def parse(self, source: Source) -> Document:
        """Parse a source and return all its blocks."""
        return await self.run(read, source)

    async def run(self, job: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run `job`, a function of a module, in a process of the pool. Cancelling kills that process.

        Raises RetryLater when the pool is closed meanwhile.
        """
        future = self._pool.schedule(guarded, args=[job, *args], kwargs=dict(kwargs), timeout=self._seconds)
        waiting = asyncio.wrap_future(future)
        self._waiting.add(waiting)
        try:
            result: R = await waiting
        except (FutureTimeout, TimeoutError) as error:
            raise SourceRefused(Code.PARSE_TIMEOUT, f"parsing took more than {self._seconds:g} s") from error
        except ProcessExpired as error:
            raise _refusal(error) from error
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if self._closed and task is not None and not task.cancelling():
                raise RetryLater(Code.INTERNAL, "the parser was shut down") from error
            raise
        finally:
            self._waiting.discard(waiting)
        return result

    async def close(self) -> None:
        """Kill what is running, and wait until the processes are gone."""
        self._closed = True
        # Once stopped, the pool may leave the futures of running tasks pending for ever.
        for waiting in list(self._waiting):
            waiting.cancel()
        stop: Callable[[], None] = self._pool.stop
        stop()
        await asyncio.to_thread(self._pool.join, _STOP_SECONDS)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


# The kernel kills a process when the machine is out of memory; one that can't even send its answer ends with 1.
_OUT_OF_MEMORY = (-signal.SIGKILL, 1)


def _refusal(expired: ProcessExpired) -> SourceRefused:
    """What the death of a process says of the document."""
    if expired.exitcode in _OUT_OF_MEMORY:
        return SourceRefused(Code.PARSE_MEMORY, "the parser ran out of memory")
    return SourceRefused(Code.BROKEN, f"the parser crashed on the document (exit code {expired.exitcode})")
