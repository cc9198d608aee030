"""A delivery on a real broker, with topics of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import pytest

from schemas.events import Event, SourceDue
from schemas.topics import DUE
from services.chassis.broker import Publisher, make_broker
from services.chassis.delivery import Delivery, Handler
from services.chassis.provisioning import apply_topics
from services.chassis.settings import DeliverySettings, KafkaSettings
from tests.support.kafka import Broker
from tests.support.messages import read_all, send, total_committed

PARTITIONS = 2
GROUP = "fetcher"


@dataclass
class Running:
    """One consumer that runs."""

    delivery: Delivery
    fatal: list[Exception]
    stop: Callable[[], Awaitable[None]]


@dataclass
class Bench:
    """Topics of their own on a broker, and consumers of `kb.source.due.v1` on it."""

    kafka: KafkaSettings
    stack: AsyncExitStack
    settings: DeliverySettings = field(
        default_factory=lambda: DeliverySettings(pause=0.05, longest_pause=0.2, drain_timeout=3, surprises=2)
    )

    @property
    def topic(self) -> str:
        return self.kafka.topic_prefix + DUE.name

    @property
    def dead_letter_topic(self) -> str:
        return self.kafka.topic_prefix + DUE.dead_letter(GROUP)

    async def send(self, *events: Event) -> None:
        await send(self.kafka.bootstrap, self.topic, *events)

    async def committed(self) -> int:
        return await total_committed(self.kafka.bootstrap, self.kafka.topic_prefix + GROUP, self.topic, PARTITIONS)

    async def dead_letters(self, count: int) -> list[Any]:
        return await read_all(self.kafka.bootstrap, self.dead_letter_topic, count)

    async def consume(self, handler: Handler, **settings: Any) -> Running:
        """Start a consumer; it is stopped at the end of the test, if it was not before."""
        publisher = Publisher(self.kafka, "/test")
        await publisher.open()
        broker = make_broker(self.kafka, "test")
        fatal: list[Exception] = []
        mine = self.settings.model_copy(update=settings)
        delivery = Delivery(broker, publisher, self.kafka, mine, on_fatal=fatal.append)
        handlers: Mapping[type[Event], Handler] = {SourceDue: handler}
        delivery.subscribe(DUE, GROUP, handlers)
        await delivery.start()
        stopped = False

        async def stop() -> None:
            nonlocal stopped
            if not stopped:
                stopped = True
                await delivery.stop()
                await publisher.close()

        self.stack.push_async_callback(stop)
        return Running(delivery, fatal, stop)


@pytest.fixture
async def bench(broker: Broker) -> AsyncIterator[Bench]:
    kafka = KafkaSettings(
        bootstrap=broker.bootstrap_servers,
        topic_prefix=f"t{uuid4().hex[:8]}.",
        idempotent=broker.transactions,
        partitions=PARTITIONS,
        session_timeout=3,
    )
    await apply_topics(kafka)
    async with AsyncExitStack() as stack:
        yield Bench(kafka, stack)
