"""`kb dlq` on both brokers."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Any
from uuid import uuid4

import pytest

from schemas.codes import Code
from schemas.events import SourceDue
from schemas.topics import DUE
from services.chassis.broker import Publisher
from services.chassis.delivery.dead_letters import DeadLetters as PuttingAside
from services.chassis.provisioning import apply_topics
from services.chassis.settings import DeliverySettings, KafkaSettings
from services.cli.dead_letter_topics import DeadLetters
from tests.support.kafka import Broker
from tests.support.messages import producer, read_all

GROUP = DUE.consumers[0]
POISON: list[tuple[bytes | None, list[tuple[str, bytes | None]]]] = [
    (b"\x00\xff" * 9, [("x", b"\xfe"), ("y", None)]),
    (None, []),
    (b'{"a": 1}', [("ce_type", SourceDue.type.encode())]),
]


@pytest.fixture
async def kafka(broker: Broker) -> KafkaSettings:
    settings = KafkaSettings(
        bootstrap=broker.bootstrap_servers, topic_prefix=f"d{uuid4().hex[:8]}.", idempotent=False, partitions=2
    )
    await apply_topics(settings)
    return settings


@pytest.fixture
async def aside(kafka: KafkaSettings) -> KafkaSettings:
    """The poison, refused."""
    topic = kafka.topic_prefix + DUE.name
    async with producer(kafka.bootstrap) as client:
        for value, headers in POISON:
            await client.send_and_wait(topic, value, key=b"k", headers=headers)
    records = await read_all(kafka.bootstrap, topic, len(POISON))
    publisher = Publisher(kafka, "/test")
    await publisher.open()
    async with AsyncExitStack() as stack:
        stack.push_async_callback(publisher.close)
        putting = PuttingAside(publisher, DUE, GROUP, DeliverySettings())
        for record in records:
            await putting.put(record, Code.EVENT_UNREADABLE, "no good")
    return kafka


async def listed(kafka: KafkaSettings) -> list[tuple[str, bool]]:
    async with DeadLetters(kafka) as letters:
        return [(letter.id, letter.replayed) async for letter in letters.all()]


async def test_nothing_is_listed_where_nothing_is(kafka: KafkaSettings) -> None:
    assert await listed(kafka) == []


async def test_each_is_listed_with_origin_and_reason(aside: KafkaSettings) -> None:
    async with DeadLetters(aside) as letters:
        found = [letter async for letter in letters.all()]
    assert [letter.record.value for letter in found] == [value for value, _ in POISON]
    assert [letter.headers for letter in found] == [headers for _, headers in POISON]
    for letter in found:
        assert letter.origin["topic"] == aside.topic_prefix + DUE.name
        assert (letter.origin["code"], letter.origin["reason"]) == ("EVENT_UNREADABLE", "no good")
        assert not letter.replayed


async def test_replay_brings_a_message_back_byte_for_byte(aside: KafkaSettings) -> None:
    async with DeadLetters(aside) as letters:
        async for letter in letters.all():
            await letters.replay(letter)
    topic = aside.topic_prefix + DUE.name
    again = (await read_all(aside.bootstrap, topic, 2 * len(POISON)))[len(POISON) :]
    assert [(record.value, record.key, list(record.headers)) for record in again] == [
        (value, b"k", headers) for value, headers in POISON
    ]
    assert [replayed for _, replayed in await listed(aside)] == [True] * len(POISON)


async def test_what_was_replayed_is_remembered_one_by_one(aside: KafkaSettings, broker: Broker) -> None:
    ids = [id for id, _ in await listed(aside)]
    async with DeadLetters(aside) as letters:
        letter = await letters.one(ids[1])
        assert letter is not None
        await letters.replay(letter)
    keeps_notes = broker.kind != "tansu"
    assert await listed(aside) == [(ids[0], False), (ids[1], keeps_notes), (ids[2], False)]


@pytest.mark.parametrize("id", ["", "nowhere/0", "nowhere", "{topic}/99", "{topic}/0/0/0", "{topic}/x"])
async def test_an_id_that_names_none_finds_none(aside: KafkaSettings, id: str) -> None:
    topic = aside.topic_prefix + DUE.dead_letter(GROUP)
    async with DeadLetters(aside) as letters:
        assert await letters.one(id.format(topic=topic)) is None


async def test_a_message_that_came_back_twice_loses_only_the_last_origin(aside: KafkaSettings) -> None:
    first: Any = None
    async with DeadLetters(aside) as letters:
        first = await anext(letters.all())
    publisher = Publisher(aside, "/test")
    await publisher.open()
    try:
        await PuttingAside(publisher, DUE, GROUP, DeliverySettings()).put(first.record, Code.HANDLER_FAILED, "again")
    finally:
        await publisher.close()
    async with DeadLetters(aside) as letters:
        last = [letter async for letter in letters.all()][-1]
    assert last.origin["reason"] == "again"
    assert last.headers == list(first.record.headers)
