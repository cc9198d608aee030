"""Where messages go that can't be processed: byte for byte, with their origin and the reason."""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime
from typing import Any

import structlog
from aiokafka import ConsumerRecord

from schemas.codes import Code
from schemas.topics import Topic
from services.chassis import metrics
from services.chassis.broker import Publisher
from services.chassis.settings import DeliverySettings

log = structlog.get_logger()

ORIGIN = "x-kb-dead-letter-"
"""Prefix of the headers that are added; the message's own headers stand before them, unchanged."""


class TooManyDeadLetters(Exception):
    """So much is refused that the fault is more likely here than in the messages: the consumer stops."""


class DeadLetters:
    """Puts messages of one topic and group aside, up to a ratio of all."""

    def __init__(self, publisher: Publisher, topic: Topic, group: str, settings: DeliverySettings) -> None:
        self._publisher = publisher
        self._topic = topic
        self._group = group
        self._settings = settings
        self._last: deque[bool] = deque(maxlen=settings.dead_letter_window)

    def passed(self) -> None:
        """A message was processed."""
        self._last.append(False)

    async def put(self, record: ConsumerRecord[Any, Any], code: Code, reason: str) -> None:
        """Put the message aside; it is safe when this returns. Raises TooManyDeadLetters and DependencyDown.

        A message without key and value gets an empty value, as no producer sends it otherwise.
        """
        refused = sum(self._last) + 1
        if refused > max(self._settings.dead_letter_floor, self._settings.dead_letter_ratio * len(self._last)):
            raise TooManyDeadLetters(f"{refused} of the last {len(self._last)} messages of {record.topic} were refused")
        origin = {
            "topic": record.topic,
            "partition": str(record.partition),
            "offset": str(record.offset),
            "timestamp": str(record.timestamp),
            "group": self._group,
            "code": str(code),
            "reason": reason[:1000],
            "refused-at": datetime.now(UTC).isoformat(),
        }
        added = [(ORIGIN + name, value.encode()) for name, value in origin.items()]
        value = b"" if record.key is None and record.value is None else record.value
        await self._publisher.send(
            self._topic.dead_letter(self._group), value, key=record.key, headers=[*record.headers, *added]
        )
        self._last.append(True)
        metrics.DEAD_LETTERS.labels(self._topic.name, self._group, code).inc()
        log.warning("dead letter", topic=record.topic, offset=record.offset, code=code, reason=reason)
