"""Reading and writing topics in tests, byte for byte."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient

from schemas.cloudevents import to_headers, to_value
from schemas.events import Event

Headers = list[tuple[str, bytes]]


def headers_of(event: Event, id: str | None = None, time: datetime | None = None) -> Headers:
    """What a publisher outside the system would send with the event."""
    return to_headers(event, id=id or str(uuid4()), source="/test", time=time or datetime.now(UTC))


@asynccontextmanager
async def producer(bootstrap: str) -> AsyncIterator[AIOKafkaProducer]:
    """A plain producer that waits for all replicas."""
    client = AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all", max_request_size=8_000_000)
    await client.start()
    try:
        yield client
    finally:
        await client.stop()


async def send(bootstrap: str, topic: str, *events: Event) -> None:
    """Publish the events in order."""
    async with producer(bootstrap) as client:
        for event in events:
            await client.send_and_wait(topic, to_value(event), key=event.key(), headers=headers_of(event))


async def read_all(bootstrap: str, topic: str, count: int, seconds: float = 15.0) -> list[ConsumerRecord[Any, Any]]:
    """The first `count` messages of a topic, or fewer when they have not come in time."""
    client = AIOKafkaConsumer(topic, bootstrap_servers=bootstrap, auto_offset_reset="earliest")
    await client.start()
    found: list[ConsumerRecord[Any, Any]] = []
    deadline = time.monotonic() + seconds
    try:
        while len(found) < count and time.monotonic() < deadline:
            for records in (await client.getmany(timeout_ms=100)).values():
                found += records
    finally:
        await client.stop()
    return found


async def committed(bootstrap: str, group: str, topic: str, partitions: int) -> dict[int, int]:
    """Committed offsets of a group, by partition; -1 where there is none."""
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        wanted = [TopicPartition(topic, number) for number in range(partitions)]
        offsets = await admin.list_consumer_group_offsets(group, partitions=wanted)
    finally:
        await admin.close()
    return {tp.partition: found.offset for tp, found in offsets.items()}


async def total_committed(bootstrap: str, group: str, topic: str, partitions: int) -> int:
    """How many messages the group has committed, in a topic that was empty."""
    await asyncio.sleep(0)
    return sum(max(0, offset) for offset in (await committed(bootstrap, group, topic, partitions)).values())
