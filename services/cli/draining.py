"""What is still to be done: in the ledger, and on the topics."""

from __future__ import annotations

import asyncio
import time
from typing import NamedTuple

from aiokafka import AIOKafkaConsumer
from aiokafka.admin import AIOKafkaAdminClient

from schemas.topics import TOPICS
from services.chassis.broker import client_options
from services.chassis.postgres import Postgres
from services.chassis.queries import load_queries
from services.chassis.settings import KafkaSettings, PostgresSettings
from services.cli.offsets import committed, partitions_of

_SQL = load_queries("services.cli", "draining.sql")
_POLL_SECONDS = 0.25


class Outstanding(NamedTuple):
    """Sources that are not ready yet, status events that are not published, messages that are not consumed."""

    sources: int
    events: int
    messages: int


class Lag:
    """Messages between what the groups have committed and the ends of their topics."""

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings
        options = client_options(settings)
        self._consumer = AIOKafkaConsumer(**options, enable_auto_commit=False)
        self._admin = AIOKafkaAdminClient(**options)

    async def open(self) -> None:
        """Connect."""
        await self._consumer.start()
        await self._admin.start()

    async def close(self) -> None:
        """Disconnect."""
        await self._consumer.stop()
        await self._admin.close()

    async def total(self) -> int:
        """Over all groups and topics that are there."""
        prefix = self._settings.topic_prefix
        pairs = [(prefix + group, prefix + topic.name) for topic in TOPICS for group in topic.consumers]
        return sum([await self._of(group, topic) for group, topic in pairs])

    async def _of(self, group: str, topic: str) -> int:
        places = await partitions_of(self._admin, [topic])
        ends = await self._consumer.end_offsets(places)
        firsts = await self._consumer.beginning_offsets(places)
        done = await committed(self._admin, group, places) if places else {}
        return sum(max(0, ends[each] - max(firsts[each], done[each].offset)) for each in places)


async def drain(kafka: KafkaSettings, postgres: PostgresSettings, seconds: float) -> Outstanding:
    """Wait until nothing is outstanding, or until the seconds are over; gives what is outstanding then."""
    database, lag = Postgres(postgres), Lag(kafka)
    deadline = time.monotonic() + seconds
    try:
        await database.open()
        await lag.open()
        while True:
            # The lag first: what is consumed after this look is in the ledger by the next one.
            messages = await lag.total()
            ((sources, events),) = await database.fetch(_SQL["outstanding"])
            found = Outstanding(sources, events, messages)
            if not any(found) or time.monotonic() > deadline:
                return found
            await asyncio.sleep(_POLL_SECONDS)
    finally:
        await lag.close()
        await database.close()
