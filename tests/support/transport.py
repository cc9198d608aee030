"""A publisher that keeps what is published, and received events as a delivery makes them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from schemas.cloudevents import Envelope, new_event_id, to_value
from schemas.codes import Code
from schemas.events import Event
from services.chassis.delivery import Received
from services.chassis.errors import DependencyDown

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


def at(second: float) -> datetime:
    """A publisher's time."""
    return EPOCH + timedelta(seconds=second)


def received(event: Event, *, id: str | None = None, source: str = "/test", time: float = 0.0) -> Received[Any]:
    """The event as a handler gets it. `time` is in seconds of a clock of the test's."""
    return Received(event, Envelope(id or str(uuid4()), source, event.type, at(time)), at(time), to_value(event))


@dataclass(frozen=True, slots=True)
class Message:
    """A published event. Messages of one type and key keep their order."""

    event: Event
    id: str

    @property
    def lane(self) -> tuple[str, bytes]:
        return self.event.type, self.event.key()


class RecordingPublisher:
    """Stands for the broker: what is published waits here, in order, until the test delivers it."""

    def __init__(self) -> None:
        self.waiting: deque[Message] = deque()
        self.delivered: list[Message] = []
        self.breaks_after: int | None = None
        """So many more are published, then the broker is away."""

    async def publish(self, event: Event, *, id: str | None = None, time: datetime | None = None) -> None:
        if self.breaks_after is not None:
            if self.breaks_after <= 0:
                raise DependencyDown(Code.BROKER_DOWN, "as the test wants it")
            self.breaks_after -= 1
        self.waiting.append(Message(event, id or new_event_id(event)))

    async def publish_all(self, events: Any) -> None:
        for event in events:
            await self.publish(event)

    @property
    def events(self) -> list[Event]:
        """What waits."""
        return [message.event for message in self.waiting]

    def heads(self) -> list[Message]:
        """The messages that may come next: the first of each type and key."""
        first: dict[tuple[str, bytes], Message] = {}
        for message in self.waiting:
            first.setdefault(message.lane, message)
        return list(first.values())

    def take(self, message: Message) -> Message:
        """It is delivered, and can be delivered again from `delivered`."""
        self.waiting.remove(message)
        self.delivered.append(message)
        return message

    def clear(self) -> list[Event]:
        """Lose what waits; gives it."""
        lost = self.events
        self.waiting.clear()
        return lost
