"""The connection to Kafka: FastStream's broker for consuming, and the publisher."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import structlog
from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, MessageSizeTooLargeError
from faststream.kafka import KafkaBroker
from faststream.security import BaseSecurity, SASLPlaintext, SASLScram256, SASLScram512

from schemas.cloudevents import new_event_id, to_headers, to_value
from schemas.codes import Code
from schemas.events import Event
from schemas.topics import TOPICS
from services.chassis import metrics
from services.chassis.errors import DependencyDown, EventRefused
from services.chassis.failpoints import failpoint
from services.chassis.settings import KafkaSettings

log = structlog.get_logger()

MESSAGE_BYTES = 1_000_000
"""Kafka refuses a batch above 1 MiB by default; a single event stays below it with its headers."""

_CONFIRM_SECONDS = 15.0  # without a confirmation for so long the broker counts as down

_CLOSE_SECONDS = 5.0

_TOPIC_OF = {event.type: topic.name for topic in TOPICS for event in topic.events}


def security(settings: KafkaSettings) -> BaseSecurity | None:
    """What FastStream needs to log in, or None for an open broker."""
    if settings.security_protocol == "PLAINTEXT":
        return None
    use_ssl = settings.security_protocol.endswith("SSL")
    if not settings.security_protocol.startswith("SASL"):
        return BaseSecurity(use_ssl=use_ssl)
    kinds = {"PLAIN": SASLPlaintext, "SCRAM-SHA-256": SASLScram256, "SCRAM-SHA-512": SASLScram512}
    password = settings.password.get_secret_value() if settings.password else ""
    return kinds[settings.sasl_mechanism](username=settings.username or "", password=password, use_ssl=use_ssl)


def client_options(settings: KafkaSettings) -> dict[str, Any]:
    """Options that every aiokafka client of the process takes."""
    options: dict[str, Any] = {"bootstrap_servers": settings.bootstrap.split(",")}
    if settings.security_protocol != "PLAINTEXT":
        options["security_protocol"] = settings.security_protocol
        options["sasl_mechanism"] = settings.sasl_mechanism
        options["sasl_plain_username"] = settings.username
        options["sasl_plain_password"] = settings.password.get_secret_value() if settings.password else None
    if settings.security_protocol.endswith("SSL"):
        from aiokafka.helpers import create_ssl_context

        options["ssl_context"] = create_ssl_context()
    return options


def make_broker(settings: KafkaSettings, client_id: str) -> KafkaBroker:
    """A FastStream broker that is not connected yet."""
    return KafkaBroker(
        settings.bootstrap.split(","),
        client_id=client_id,
        security=security(settings),
        allow_auto_create_topics=False,
        apply_types=False,
        logger=None,
        graceful_timeout=None,  # the delivery drains before the broker stops
    )


class Publisher:
    """Publishes events, and returns when the broker has confirmed them."""

    def __init__(self, settings: KafkaSettings, source: str) -> None:
        """`source` is the CloudEvents source, such as `/kb/fetcher`."""
        self._settings = settings
        self._source = source
        self._producer: AIOKafkaProducer | None = None

    async def open(self) -> None:
        """Connect. Raises DependencyDown(BROKER_DOWN)."""
        compression = None if self._settings.compression == "none" else self._settings.compression
        producer = AIOKafkaProducer(
            **client_options(self._settings),
            acks="all",
            enable_idempotence=self._settings.idempotent,
            compression_type=compression,
            max_request_size=8_388_608,  # dead letters carry their origin besides; events are checked below,
            request_timeout_ms=int(_CONFIRM_SECONDS * 1000),
            linger_ms=0,
        )
        try:
            await producer.start()
        except (KafkaError, OSError) as error:
            await producer.stop()
            raise DependencyDown(Code.BROKER_DOWN, str(error)) from error
        self._producer = producer

    async def close(self) -> None:
        """Disconnect. What is not confirmed by now was never promised to anybody."""
        if self._producer is not None:
            with contextlib.suppress(TimeoutError, KafkaError):
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await self._producer.stop()

    async def publish(self, event: Event, *, id: str | None = None, time: datetime | None = None) -> None:
        """Publish on the topic that the table names for the event's type.

        Raises EventRefused(EVENT_TOO_LARGE) and DependencyDown(BROKER_DOWN).
        """
        value = to_value(event)
        if len(value) > MESSAGE_BYTES:
            raise EventRefused(Code.EVENT_TOO_LARGE, f"{event.type} has {len(value)} bytes")
        headers = to_headers(event, id=id or new_event_id(event), source=self._source, time=time or datetime.now(UTC))
        topic = _TOPIC_OF[event.type]
        await self.send(topic, value, key=event.key(), headers=headers)
        metrics.PUBLISHED.labels(topic, event.type).inc()

    async def publish_all(self, events: Iterable[Event]) -> None:
        """Publish in order; each is confirmed before the next, so that a crash leaves a beginning, not gaps."""
        for event in events:
            await self.publish(event)

    async def send(
        self, topic: str, value: bytes | None, *, key: bytes | None, headers: list[tuple[str, bytes | None]] | Any
    ) -> None:
        """Send a message as it is to a topic by its name in the table. Raises DependencyDown or EventRefused."""
        if self._producer is None:
            raise RuntimeError("the publisher is not open")
        failpoint("before-publish")
        try:
            # An idempotent producer would wait for ever.
            async with asyncio.timeout(_CONFIRM_SECONDS):
                await self._producer.send_and_wait(self._settings.topic_prefix + topic, value, key=key, headers=headers)
        except MessageSizeTooLargeError as error:
            raise EventRefused(Code.EVENT_TOO_LARGE, str(error)) from error
        except (KafkaError, OSError) as error:  # TimeoutError among them
            raise DependencyDown(Code.BROKER_DOWN, f"{type(error).__name__}: {error}") from error
        failpoint("after-publish")
