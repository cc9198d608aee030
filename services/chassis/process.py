"""The life of a process: connect, consume, drain, disconnect. Every service's `__main__` composes one of these."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import structlog
import uvloop
from aiokafka.errors import KafkaError

from services.chassis.blobs import BlobStore
from services.chassis.broker import Publisher, make_broker
from services.chassis.delivery import Delivery
from services.chassis.delivery.pausing import OnPause
from services.chassis.endpoint import Endpoint, OperationsApp
from services.chassis.errors import DependencyDown, KnowledgeBaseError
from services.chassis.health import Health
from services.chassis.logging import configure_logging
from services.chassis.postgres import Postgres
from services.chassis.settings import (
    BlobSettings,
    DeliverySettings,
    KafkaSettings,
    LogSettings,
    PostgresSettings,
    ServerSettings,
)

log = structlog.get_logger()

_LAG_SECONDS = 10.0

Background = Callable[[], Awaitable[None]]
"""Runs until it is cancelled. If it ends or raises, the process ends."""


class Process:
    """What a service is made of. Subclasses or callers add subscriptions and background work, then `run`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.kafka = KafkaSettings()
        self.delivery_settings = DeliverySettings()
        self.postgres = Postgres(PostgresSettings())
        self.blobs = BlobStore(BlobSettings())
        self.publisher = Publisher(self.kafka, f"/kb/{name}")
        self.broker = make_broker(self.kafka, f"kb-{name}")
        self.health = Health(handler_timeout=self.delivery_settings.handler_timeout)
        self.app: Any = OperationsApp(self.health)
        self.background: list[Background] = [self._sample_lag]
        self.opening: list[Callable[[], Awaitable[None]]] = []
        self.winding_down: list[Callable[[], Awaitable[None]]] = []
        self.closing: list[Callable[[], Awaitable[None]]] = []
        self._ended = asyncio.Event()
        self._fatal: BaseException | None = None
        self._tasks: list[asyncio.Task[None]] = []

    def consume(self, on_pause: OnPause | None = None) -> Delivery:
        """The process's delivery, to which subscriptions are added."""
        delivery = Delivery(
            self.broker,
            self.publisher,
            self.kafka,
            self.delivery_settings,
            on_fatal=self.fail,
            on_pause=on_pause,
        )
        self.health.delivery = delivery
        return delivery

    def repeat(self, turn: Callable[[], Awaitable[object]], pause: float) -> None:
        """Take a turn in the background, again and again with so many seconds between; a dependency may be down."""

        async def turns() -> None:
            while True:
                try:
                    await turn()
                except DependencyDown as error:
                    log.warning("a turn waits", turn=turn.__qualname__, code=error.code, reason=error.reason)
                await asyncio.sleep(pause)

        self.background.append(turns)

    def fail(self, error: BaseException) -> None:
        """End the process, not with success."""
        if not self.health.stopping:
            self._fatal = self._fatal or error
        self._ended.set()

    async def run(self) -> None:
        """Run until a signal or a fatal error. Raises the fatal error, also when a dependency is away at the start."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._ended.set)
        server = Endpoint(self.app, ServerSettings())
        try:
            await self.postgres.open()
            await self.publisher.open()
            for begin in self.opening:
                await begin()
            self._start(server.serve)
            if self.health.delivery is not None:
                await self.health.delivery.start()
            for work in self.background:
                self._start(work)
            self.health.started = True
            log.info("started")
            await self._ended.wait()
        finally:
            await self._stop(server)
        if self._fatal is not None:
            raise self._fatal

    def _start(self, work: Background) -> None:
        async def until_cancelled() -> None:
            try:
                await work()
            except Exception as error:  # noqa: BLE001  # whatever ended it ends the process, which says why
                self.fail(error)
            else:
                self.fail(RuntimeError(f"{work!r} has ended"))

        self._tasks.append(asyncio.create_task(until_cancelled()))

    async def _stop(self, server: Endpoint) -> None:
        self.health.stopping = True
        log.info("stopping")
        for wind_down in self.winding_down if self.health.started else ():
            await wind_down()
        if self.health.delivery is not None:
            with contextlib.suppress(KafkaError):
                await self.health.delivery.stop()
        server.should_exit = True
        for task in self._tasks[1:]:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for close in (*self.closing, self.publisher.close, self.postgres.close):
            await close()

    async def _sample_lag(self) -> None:
        while True:
            await asyncio.sleep(_LAG_SECONDS)
            await self.health.sample_lag()


def run(name: str, compose: Callable[[], Awaitable[Process]]) -> None:
    """Compose the process and run it; exits with 1 and one line that says why, where it can't go on."""
    configure_logging(LogSettings(), name)

    async def main() -> None:
        process = await compose()
        await process.run()

    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(main())
    except KnowledgeBaseError as error:
        log.error("ended", code=error.code, reason=error.reason)
        sys.exit(1)
    except (KafkaError, OSError) as error:
        log.error("ended", reason=repr(error))
        sys.exit(1)
    except Exception:
        log.exception("ended")
        sys.exit(1)
