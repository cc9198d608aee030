from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from services.chassis.embedded.broker import EmbeddedBroker
from services.chassis.embedded.errors import StartFailed
from tests.support.kafka import ApacheKafka, Broker, kafka_missing
from tests.support.processes import eventually, require

# Joining a group of tansu takes about half the session.
SESSION = {"session_timeout_ms": 3000, "heartbeat_interval_ms": 300}
TOPIC_ALREADY_EXISTS = 36
MESSAGES = [b"%d" % number for number in range(200)]


async def create_topic(servers: str, topic: str, copies: int = 1) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=servers)
    await admin.start()
    try:
        answer = await admin.create_topics([NewTopic(topic, num_partitions=1, replication_factor=copies)])
        # Clients that are back at tansu before us have made it already.
        assert answer.topic_errors[0][1] in {0, TOPIC_ALREADY_EXISTS}
    finally:
        await admin.close()


@asynccontextmanager
async def producing(servers: str, **settings: object) -> AsyncIterator[AIOKafkaProducer]:
    async with AIOKafkaProducer(bootstrap_servers=servers, acks="all", **settings) as producer:
        yield producer


async def send(servers: str, topic: str, messages: list[bytes], **settings: object) -> None:
    async with producing(servers, **settings) as producer:
        await asyncio.gather(*[await producer.send(topic, message) for message in messages])


async def read(servers: str, topic: str, number: int, group: str | None = None) -> list[bytes | None]:
    """That many messages from the committed offset or the beginning; commits when there is a group."""
    consumer = AIOKafkaConsumer(
        topic,
        bootstrap_servers=servers,
        group_id=group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        **SESSION,
    )
    async with consumer:
        async with asyncio.timeout(30):
            messages = [await consumer.getone() for _ in range(number)]
        if group:
            await consumer.commit({TopicPartition(topic, 0): messages[-1].offset + 1})
    return [message.value for message in messages]


@pytest.fixture
def topic() -> str:
    return f"topic-{uuid4()}"


@pytest.fixture
def kafka(tmp_path: Path) -> Iterator[ApacheKafka]:
    require(kafka_missing())
    with ApacheKafka(tmp_path) as server:
        yield server


async def test_round_trip_in_a_group(broker: Broker, topic: str) -> None:
    await create_topic(broker.bootstrap_servers, topic)
    await send(broker.bootstrap_servers, topic, MESSAGES)
    group = f"group-{topic}"
    assert await read(broker.bootstrap_servers, topic, 50, group) == MESSAGES[:50]
    assert await read(broker.bootstrap_servers, topic, 150, group) == MESSAGES[50:]


@pytest.mark.kafka
async def test_kafka_takes_idempotent_producers(shared_kafka: ApacheKafka, topic: str) -> None:
    await create_topic(shared_kafka.bootstrap_servers, topic)
    await send(shared_kafka.bootstrap_servers, topic, MESSAGES, enable_idempotence=True)
    assert await read(shared_kafka.bootstrap_servers, topic, 200) == MESSAGES


@pytest.mark.parametrize("end", ["stop", "kill"])
async def test_tansu_comes_back_empty_on_the_same_port(end: str, topic: str) -> None:
    with EmbeddedBroker() as server:
        address, first = server.bootstrap_servers, server.pid
        await create_topic(address, topic)
        await send(address, topic, MESSAGES)
        getattr(server, end)()
        assert not server.running
        server.start()
        assert server.bootstrap_servers == address
        assert server.pid != first
        await create_topic(address, topic)
        await send(address, topic, [b"new"])
        assert await read(address, topic, 1) == [b"new"]


async def test_clients_of_tansu_outlive_it(topic: str) -> None:
    with EmbeddedBroker() as server:
        address = server.bootstrap_servers
        await create_topic(address, topic)
        consumer = AIOKafkaConsumer(
            topic,
            bootstrap_servers=address,
            group_id="group",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            **SESSION,
        )
        async with consumer, producing(address) as producer, asyncio.timeout(60):
            await producer.send_and_wait(topic, b"old")
            assert (await consumer.getone()).value == b"old"
            await consumer.commit()
            # With automatic commits a client carries its old position over to the empty broker, and skips that much.
            server.kill()
            server.start()
            await create_topic(address, topic)
            await producer.send_and_wait(topic, b"new")
            assert (await consumer.getone()).value == b"new"


def test_a_taken_port_is_said(tmp_path: Path) -> None:
    with EmbeddedBroker() as server, pytest.raises(StartFailed, match=f"port {server.port} is taken"):
        EmbeddedBroker(server.port, log=tmp_path / "log").start()


def test_a_crash_of_tansu_shows() -> None:
    with EmbeddedBroker() as server:
        assert server.pid
        os.kill(server.pid, signal.SIGKILL)
        eventually(lambda: not server.running)
        assert server.pid is None


@pytest.mark.kafka
@pytest.mark.parametrize("end", ["stop", "kill"])
async def test_kafka_keeps_data_and_offsets(kafka: ApacheKafka, topic: str, end: str) -> None:
    address = kafka.bootstrap_servers
    await create_topic(address, topic)
    await send(address, topic, MESSAGES)
    assert await read(address, topic, 50, "group") == MESSAGES[:50]
    getattr(kafka, end)()
    assert kafka.pid() is None
    kafka.start()
    assert kafka.bootstrap_servers == address
    assert await read(address, topic, 150, "group") == MESSAGES[50:]


@pytest.mark.kafka
@pytest.mark.slow
async def test_three_brokers_survive_the_death_of_one(tmp_path: Path, topic: str) -> None:
    require(kafka_missing())
    with ApacheKafka(tmp_path, brokers=3) as kafka:
        address = kafka.bootstrap_servers
        await create_topic(address, topic, copies=3)
        async with producing(address, enable_idempotence=True) as producer, asyncio.timeout(90):
            sent = [await producer.send(topic, message) for message in MESSAGES[:100]]
            kafka.kill(1)
            sent += [await producer.send(topic, message) for message in MESSAGES[100:]]
            await asyncio.gather(*sent)
        assert await read(address, topic, 200, "group") == MESSAGES
        kafka.start()
        assert kafka.pid(1)
