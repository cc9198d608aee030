"""Partitions of topics, and what a group has committed of them."""

from __future__ import annotations

import asyncio
import time

from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import GroupCoordinatorNotAvailableError, GroupLoadInProgressError, NotCoordinatorForGroupError
from aiokafka.structs import OffsetAndMetadata

_PASSING = (GroupCoordinatorNotAvailableError, GroupLoadInProgressError, NotCoordinatorForGroupError)
_PATIENCE_SECONDS = 20.0  # a cluster makes its topic of offsets when the first group asks
_PAUSE_SECONDS = 0.2


async def partitions_of(admin: AIOKafkaAdminClient, topics: list[str]) -> list[TopicPartition]:
    """All partitions of those of the topics that are there, in order."""
    there = set(await admin.list_topics())
    wanted = [topic for topic in topics if topic in there]
    described = {each["topic"]: each for each in await admin.describe_topics(wanted)} if wanted else {}
    return [
        TopicPartition(topic, number)
        for topic in wanted
        for number in sorted(each["partition"] for each in described[topic]["partitions"])
    ]


async def committed(
    admin: AIOKafkaAdminClient, group: str, places: list[TopicPartition]
) -> dict[TopicPartition, OffsetAndMetadata]:
    """Offsets with their notes; -1 where the group has committed none."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            found: dict[TopicPartition, OffsetAndMetadata] = await admin.list_consumer_group_offsets(
                group, partitions=places
            )
        except _PASSING:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(_PAUSE_SECONDS)
        else:
            return found
