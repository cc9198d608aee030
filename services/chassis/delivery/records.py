"""What a handler gets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from aiokafka import ConsumerRecord

from schemas.cloudevents import Envelope, read_envelope, read_event
from schemas.events import Event
from schemas.topics import Topic

E = TypeVar("E", bound=Event)


@dataclass(frozen=True, slots=True)
class Received(Generic[E]):
    """An event with the attributes it came with. `time` is the publisher's, else the broker's."""

    event: E
    envelope: Envelope
    time: datetime
    raw: bytes
    """The event's data as it came."""


Handler = Callable[[Received[Any]], Awaitable[None]]
"""Processes one event. It returns when the effect is durable and what follows from it is published."""


def read(record: ConsumerRecord[bytes, bytes], topic: Topic) -> Received[Event]:
    """The event of a message. Raises EventError."""
    envelope = read_envelope(record.headers)
    event = read_event(envelope, record.value, topic.types)
    time = envelope.time or datetime.fromtimestamp(record.timestamp / 1000, UTC)
    return Received(event, envelope, time, record.value or b"")
