"""Reads the dead-letter topics, and publishes dead letters again as they once came."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, NamedTuple, Self

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient

from schemas.topics import TOPICS
from services.chassis.broker import Publisher, client_options
from services.chassis.delivery.dead_letters import ORIGIN
from services.chassis.settings import KafkaSettings
from services.cli.offsets import committed, partitions_of

GROUP = "kb-replay"
"""The group whose committed offsets, and the notes that stand with them, say what was replayed.

The embedded broker keeps no notes: there a dead letter is remembered when all before it were replayed too.
"""

_POLL_MS = 200
_MOST_NOTED = 400  # offsets that fit into the note of a commit, of which Kafka keeps 4,096 bytes


class DeadLetter(NamedTuple):
    """One message of a dead-letter topic. `id` is `topic/offset`, or `topic/partition/offset` beyond partition 0."""

    id: str
    place: TopicPartition
    record: ConsumerRecord[bytes, bytes]
    origin: dict[str, str]
    headers: list[tuple[str, bytes | None]]
    """Those that the message came with."""
    replayed: bool


class Replayed(NamedTuple):
    """What was replayed of a partition: everything below `below`, and `others`."""

    below: int
    others: frozenset[int]

    def has(self, offset: int) -> bool:
        """Whether the dead letter at the offset was."""
        return offset < self.below or offset in self.others

    def and_also(self, offset: int, first: int) -> Replayed:
        """With one more. `first` is the lowest offset that is still there."""
        others, below = {*self.others, offset}, max(self.below, first)
        while below in others:
            below += 1
        return Replayed(below, frozenset(sorted(each for each in others if each > below)[:_MOST_NOTED]))


class DeadLetters:
    """The dead-letter topics of all groups. Raises the errors of aiokafka, and DependencyDown."""

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings
        self._stack = AsyncExitStack()
        self._replayed: dict[TopicPartition, Replayed] = {}
        self._places: list[TopicPartition] = []
        self._first: dict[TopicPartition, int] = {}
        self._end: dict[TopicPartition, int] = {}

    async def __aenter__(self) -> Self:
        try:
            await self._open()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def _open(self) -> None:
        options = client_options(self._settings)
        replaying = self._settings.topic_prefix + GROUP
        self._consumer = AIOKafkaConsumer(
            **options, group_id=replaying, enable_auto_commit=False, auto_offset_reset="none"
        )
        self._publisher = Publisher(self._settings, "/kb/cli")
        admin = AIOKafkaAdminClient(**options)
        for start, stop in (
            (self._consumer.start, self._consumer.stop),
            (self._publisher.open, self._publisher.close),
            (admin.start, admin.close),
        ):
            self._stack.push_async_callback(stop)
            await start()
        prefix = self._settings.topic_prefix
        names = [prefix + topic.dead_letter(group) for topic in TOPICS for group in topic.consumers]
        self._places = await partitions_of(admin, names)
        self._consumer.assign(self._places)
        if self._places:
            self._first = await self._consumer.beginning_offsets(self._places)
            self._end = await self._consumer.end_offsets(self._places)
            noted = await committed(admin, replaying, self._places)
            self._replayed = {place: _read_note(found.offset, found.metadata) for place, found in noted.items()}

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def all(self) -> AsyncIterator[DeadLetter]:
        """Every dead letter, topic by topic, oldest first."""
        for place in self._places:
            async for letter in self._between(place, self._first[place], self._end[place]):
                yield letter

    async def one(self, id: str) -> DeadLetter | None:
        """The dead letter of that id."""
        place, offset = _place(id)
        if place not in self._places or not self._first[place] <= offset < self._end[place]:
            return None
        async for letter in self._between(place, offset, offset + 1):
            return letter
        return None

    async def replay(self, letter: DeadLetter) -> None:
        """Publish it to the topic it was meant for, byte for byte as it came, and note that."""
        topic = letter.origin["topic"].removeprefix(self._settings.topic_prefix)
        await self._publisher.send(topic, letter.record.value, key=letter.record.key, headers=letter.headers)
        place = letter.place
        noted = self._state(place).and_also(letter.record.offset, self._first[place])
        self._replayed[place] = noted
        await self._consumer.commit({place: (noted.below, ",".join(map(str, sorted(noted.others))))})

    def _state(self, place: TopicPartition) -> Replayed:
        return self._replayed.get(place, Replayed(0, frozenset()))

    async def _between(self, place: TopicPartition, first: int, end: int) -> AsyncIterator[DeadLetter]:
        self._consumer.seek(place, first)
        while first < end:
            for record in (await self._consumer.getmany(place, timeout_ms=_POLL_MS, max_records=50)).get(place, ()):
                if record.offset >= end:
                    return
                yield self._letter(place, record)
            first = await self._consumer.position(place)

    def _letter(self, place: TopicPartition, record: ConsumerRecord[bytes, bytes]) -> DeadLetter:
        own, origin = _split(record.headers)
        where = f"{place.partition}/{record.offset}" if place.partition else str(record.offset)
        replayed = self._state(place).has(record.offset)
        return DeadLetter(f"{place.topic}/{where}", place, record, origin, own, replayed)


def _split(headers: Iterable[tuple[str, Any]]) -> tuple[list[tuple[str, bytes | None]], dict[str, str]]:
    """The message's own headers, and what was added behind them. Only a last run of ours counts as added."""
    own = list(headers)
    origin: dict[str, str] = {}
    while own and own[-1][0].startswith(ORIGIN):
        name, value = own[-1]
        if name.removeprefix(ORIGIN) in origin:
            break  # what was put aside once before is part of the message
        origin[name.removeprefix(ORIGIN)] = (value or b"").decode("utf-8", "replace")
        own.pop()
    return own, origin


def _place(id: str) -> tuple[TopicPartition, int]:
    topic, *numbers = id.split("/")
    if not topic or len(numbers) not in (1, 2) or not all(number.isdigit() for number in numbers):
        return TopicPartition("", 0), 0
    partition = int(numbers[0]) if len(numbers) == 2 else 0
    return TopicPartition(topic, partition), int(numbers[-1])


def _read_note(offset: int, note: str | None) -> Replayed:
    others = frozenset(int(each) for each in (note or "").split(",") if each.isdigit())
    return Replayed(max(0, offset), others)
