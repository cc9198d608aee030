"""Decides what becomes of one message."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

import structlog
from aiokafka import ConsumerRecord

from schemas.cloudevents import EventError
from schemas.codes import Code
from schemas.events import Event
from schemas.topics import Topic
from services.chassis import metrics
from services.chassis.delivery.dead_letters import DeadLetters
from services.chassis.delivery.pausing import Pauser
from services.chassis.delivery.records import Handler, read
from services.chassis.errors import DependencyDown, EventRefused
from services.chassis.settings import DeliverySettings

log = structlog.get_logger()


class _Surprise(Exception):
    """The handler raised what it is not meant to raise."""


class Fate:
    """The rules, for one topic and group."""

    def __init__(
        self,
        topic: Topic,
        group: str,
        handlers: Mapping[type[Event], Handler],
        dead_letters: DeadLetters,
        pauser: Pauser,
        settings: DeliverySettings,
    ) -> None:
        self._topic = topic
        self._group = group
        self._handlers = handlers
        self._dead_letters = dead_letters
        self._pauser = pauser
        self._settings = settings

    async def settle(self, record: ConsumerRecord[Any, Any], given_up: asyncio.Event) -> bool:
        """Work on the message until it is done (True) or `given_up` is set (False). Raises TooManyDeadLetters."""
        begun = time.monotonic()
        waited = max(0.0, time.time() - record.timestamp / 1000)
        metrics.WAITING.labels(self._topic.name, self._group).observe(waited)
        surprises = 0
        while not given_up.is_set():
            try:
                outcome = await self._once(record, last=surprises + 1 >= self._settings.surprises)
            except DependencyDown as error:
                await self._pauser.wait(error, given_up)
            except _Surprise:
                surprises += 1
                await asyncio.sleep(0.1 * 4**surprises)
            else:
                metrics.EVENTS.labels(self._topic.name, self._group, outcome).inc()
                metrics.HANDLING.labels(self._topic.name, self._group).observe(time.monotonic() - begun)
                return True
        return False

    async def _once(self, record: ConsumerRecord[Any, Any], *, last: bool) -> str:
        try:
            await self._handle(record)
        except EventRefused as error:
            await self._dead_letters.put(record, error.code, error.reason)
            return "refused"
        except DependencyDown:
            raise
        except (Exception, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) and _is_being_cancelled():
                raise
            log.exception("handler failed", topic=record.topic, offset=record.offset, last=last)
            if not last:
                raise _Surprise from error
            await self._dead_letters.put(record, Code.HANDLER_FAILED, repr(error))
            return "failed"
        self._dead_letters.passed()
        self._pauser.succeeded()
        return "done"

    async def _handle(self, record: ConsumerRecord[Any, Any]) -> None:
        try:
            received = read(record, self._topic)
        except EventError as error:
            raise EventRefused(error.code, error.reason) from error
        event = received.event
        with structlog.contextvars.bound_contextvars(
            event_type=event.type,
            event_id=received.envelope.id,
            organization_id=str(event.organization_id),
            subject=event.subject(),
            revision=event.wish_revision(),
        ):
            async with asyncio.timeout(self._settings.handler_timeout):
                await self._handlers[type(event)](received)


def _is_being_cancelled() -> bool:
    # A cancellation that nobody asked of this task was raised by something within the handler.
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
