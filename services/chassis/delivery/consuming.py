"""Consumes topics so that no message is lost: an offset is committed when all before it is done, and never earlier.

A handler that returns has made its effect durable and published what follows. Then, and only then, the message is done:

- it is done when the handler returned, or when it lies in the dead-letter topic;
- when a dependency is down, the message waits in place and nothing is committed past it;
- an unexpected error is tried a few times, then put aside;
- at a stop or a rebalance, work in hand gets time to end; what does not is delivered again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import structlog
from aiokafka import AIOKafkaConsumer, ConsumerRecord
from aiokafka.errors import ConsumerStoppedError, CorruptRecordException, KafkaError, UnsupportedCodecError
from faststream import AckPolicy
from faststream.kafka import KafkaBroker
from faststream.kafka.message import FAKE_CONSUMER, KafkaAckableMessage

from schemas.events import Event
from schemas.topics import Topic
from services.chassis.broker import Publisher
from services.chassis.delivery.pausing import OnPause
from services.chassis.delivery.records import Handler
from services.chassis.delivery.window import Window
from services.chassis.settings import DeliverySettings, KafkaSettings

log = structlog.get_logger()

_POLL_MS = 20
_PATIENCE_MS = 1000
_NEVER_MS = 7 * 24 * 3600 * 1000  # a paused stage does not poll; liveness is judged by health, not by the broker


class Delivery:
    """The subscriptions of a process."""

    def __init__(
        self,
        broker: KafkaBroker,
        publisher: Publisher,
        kafka: KafkaSettings,
        settings: DeliverySettings,
        *,
        on_fatal: Callable[[Exception], None],
        on_pause: OnPause | None = None,
    ) -> None:
        """`on_fatal` is called when consuming can't go on: the process has to end, and not with success."""
        self._broker = broker
        self._publisher = publisher
        self._kafka = kafka
        self._settings = settings
        self._on_fatal = on_fatal
        self._on_pause = on_pause
        self.windows: list[Window] = []
        self._subscribers: list[Any] = []

    def subscribe(self, topic: Topic, group: str, handlers: Mapping[type[Event], Handler], window: int = 0) -> None:
        """Let `handlers` process the events of the topic, by their class. Call before the broker starts."""
        mine = Window(
            topic,
            group,
            handlers,
            self._publisher,
            self._settings.model_copy(update={"window": window}) if window else self._settings,
            on_fatal=self._on_fatal,
            on_pause=self._on_pause,
        )
        subscriber = self._broker.subscriber(
            self._kafka.topic_prefix + topic.name,
            group_id=self._kafka.topic_prefix + group,
            batch=True,
            max_records=self._settings.window,
            batch_timeout_ms=_POLL_MS,
            fetch_max_wait_ms=int(self._kafka.fetch_wait * 1000),
            auto_offset_reset="earliest",
            ack_policy=AckPolicy.MANUAL,
            no_reply=True,
            listener=mine,
            # What a transaction has not committed was not said.
            isolation_level="read_committed" if self._kafka.idempotent else "read_uncommitted",
            max_poll_interval_ms=_NEVER_MS,
            rebalance_timeout_ms=int(self._settings.drain_timeout * 1000) + 10_000,
            session_timeout_ms=int(self._kafka.session_timeout * 1000),
            heartbeat_interval_ms=int(self._kafka.session_timeout * 1000 / 10),
        )

        async def consume(records: Sequence[ConsumerRecord[Any, Any]]) -> None:
            try:
                await mine.take(records)
            except Exception as error:
                # FastStream would go on with the next messages, and these would be lost with the next commit.
                self._on_fatal(error)
                raise

        subscriber(consume, parser=_raw, decoder=_records)
        mine.consumer_of(lambda: subscriber.consumer)
        self.windows.append(mine)
        self._subscribers.append(subscriber)

    async def start(self) -> None:
        """Connect and consume. The groups are joined side by side, as each join may take seconds."""
        await self._broker.connect()
        config = self._broker.config.broker_config
        build = config.builder
        config.builder = lambda **options: self._guarded(build(**options))
        await asyncio.gather(*(subscriber.start() for subscriber in self._subscribers))

    def _guarded(self, consumer: AIOKafkaConsumer) -> AIOKafkaConsumer:
        """Let polls wait for messages, and what can't be decoded end the process.

        When one partition's records can't, those of others that were read with them are lost to this consumer: it
        would commit past them. A new one begins at the committed offsets.
        """
        read = consumer.getmany

        async def getmany(*, timeout_ms: int, max_records: int | None) -> Any:
            try:
                # FastStream sleeps for as long as a poll may last after each that found nothing: so polls last long
                # here, and its sleeps stay short.
                return await read(timeout_ms=max(timeout_ms, _PATIENCE_MS), max_records=max_records)
            except (UnsupportedCodecError, CorruptRecordException) as error:
                self._on_fatal(error)
                raise
            except (KafkaError, ConsumerStoppedError):
                raise
            except Exception as error:
                self._on_fatal(error)
                raise

        consumer.getmany = getmany
        return consumer

    async def stop(self) -> None:
        """Let work in hand end, then disconnect."""
        await self.drain()
        await self._broker.stop()

    async def drain(self) -> None:
        """Take up nothing more, let work in hand end, commit. Afterwards the broker can be stopped."""
        await asyncio.gather(*(window.drain() for window in self.windows))

    def loops_alive(self) -> bool:
        """Whether every subscription still consumes."""
        return all(
            subscriber.running and not any(task.done() for task in subscriber.tasks) for subscriber in self._subscribers
        )

    def consumers(self) -> list[tuple[Window, AIOKafkaConsumer]]:
        """The windows with their consumers, where started."""
        return [
            (window, subscriber.consumer)
            for window, subscriber in zip(self.windows, self._subscribers, strict=True)
            if subscriber.consumer is not None
        ]


async def _raw(records: tuple[ConsumerRecord[Any, Any], ...]) -> KafkaAckableMessage:
    # Nothing is decoded here, so nothing can fail here: a header that is no text is the window's to put aside.
    return KafkaAckableMessage(body=b"", raw_message=records, consumer=FAKE_CONSUMER)


async def _records(message: KafkaAckableMessage) -> Any:
    return message.raw_message
