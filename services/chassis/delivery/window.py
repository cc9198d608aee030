"""The messages of one topic and group that a process works on at a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import structlog
from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, ConsumerRecord, TopicPartition
from aiokafka.errors import KafkaError

from schemas.events import Event
from schemas.topics import Topic
from services.chassis import metrics
from services.chassis.broker import Publisher
from services.chassis.delivery.dead_letters import DeadLetters, TooManyDeadLetters
from services.chassis.delivery.fate import Fate
from services.chassis.delivery.pausing import OnPause, Pauser
from services.chassis.delivery.progress import PartitionProgress
from services.chassis.delivery.records import Handler
from services.chassis.failpoints import failpoint
from services.chassis.settings import DeliverySettings

log = structlog.get_logger()

_COMMIT_SECONDS = 0.02  # commits this close together go as one
_COMMIT_LIMIT = 5.0  # the client itself tries for ever while the broker is away
_RETRY_SECONDS = 0.5

Record: TypeAlias = ConsumerRecord[Any, Any]


class Window(ConsumerRebalanceListener):  # type: ignore[misc]
    """Works on messages side by side, those with the same key one after the other, and commits as they end."""

    def __init__(
        self,
        topic: Topic,
        group: str,
        handlers: Mapping[type[Event], Handler],
        publisher: Publisher,
        settings: DeliverySettings,
        *,
        on_fatal: Callable[[Exception], None],
        on_pause: OnPause | None,
    ) -> None:
        self.topic = topic
        self.group = group
        self.pauser = Pauser(group, settings, on_pause)
        dead_letters = DeadLetters(publisher, topic, group, settings)
        self._fate = Fate(topic, group, handlers, dead_letters, self.pauser, settings)
        self._settings = settings
        self._on_fatal = on_fatal
        self._slots = asyncio.Semaphore(settings.window)
        self._progress: dict[TopicPartition, PartitionProgress] = {}
        self._last_of_key: dict[tuple[int, bytes | None], asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._open = True
        self._stopped = False
        self._given_up = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._advanced = asyncio.Event()
        self._committer: asyncio.Task[None] | None = None
        self._consumer: Callable[[], AIOKafkaConsumer | None] = lambda: None
        self.last_progress = time.monotonic()

    def consumer_of(self, consumer: Callable[[], AIOKafkaConsumer | None]) -> None:
        """Where to find the consumer once it runs."""
        self._consumer = consumer

    @property
    def in_hand(self) -> int:
        """Messages being worked on."""
        return len(self._tasks)

    def in_hand_of(self, partition: TopicPartition) -> int:
        """Messages of the partition that were read and are not done."""
        progress = self._progress.get(partition)
        return progress.in_hand if progress else 0

    async def take(self, records: Sequence[Record]) -> None:
        """Take up the messages, as slots come free.

        Messages that arrive while the window is closed are dropped: their partitions are about to be read again from
        the committed offset, by this process or by another.
        """
        if self._committer is None:
            self._committer = asyncio.create_task(self._commit_as_work_ends())
        given_up = self._given_up
        for record in records:
            await self._slots.acquire()
            if not self._open or given_up is not self._given_up:
                self._slots.release()
                return
            self._start(record)

    def _start(self, record: Record) -> None:
        partition = TopicPartition(record.topic, record.partition)
        progress = self._progress.setdefault(partition, PartitionProgress())
        progress.take(record.offset)
        key = (record.partition, record.key)
        previous = self._last_of_key.get(key) if record.key is not None else None
        task = asyncio.create_task(self._work(record, progress, previous, self._given_up))
        self._last_of_key[key] = task
        self._tasks.add(task)
        self._idle.clear()
        metrics.IN_HAND.labels(self.topic.name, self.group).set(len(self._tasks))
        task.add_done_callback(lambda done: self._ended(done, key))

    def _ended(self, task: asyncio.Task[None], key: tuple[int, bytes | None]) -> None:
        self._tasks.discard(task)
        if self._last_of_key.get(key) is task:
            del self._last_of_key[key]
        self._slots.release()
        metrics.IN_HAND.labels(self.topic.name, self.group).set(len(self._tasks))
        if not self._tasks:
            self._idle.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            self._on_fatal(error if isinstance(error, Exception) else RuntimeError(repr(error)))

    async def _work(
        self,
        record: Record,
        progress: PartitionProgress,
        previous: asyncio.Task[None] | None,
        given_up: asyncio.Event,
    ) -> None:
        if previous is not None:
            await asyncio.wait({previous})
        try:
            done = await self._fate.settle(record, given_up)
        except TooManyDeadLetters as error:
            log.error("too many dead letters", topic=self.topic.name, group=self.group, reason=str(error))
            given_up.set()
            self._open = False
            self._on_fatal(error)
            return
        if done:
            progress.finish(record.offset)
            self.last_progress = time.monotonic()
            self._advanced.set()

    async def _commit_as_work_ends(self) -> None:
        while True:
            await self._advanced.wait()
            self._advanced.clear()
            if not await self._commit():
                await asyncio.sleep(_RETRY_SECONDS)
                self._advanced.set()
            await asyncio.sleep(_COMMIT_SECONDS)

    async def _commit(self) -> bool:
        due = {tp: progress.due for tp, progress in self._progress.items() if progress.due is not None}
        consumer = self._consumer()
        if not due or consumer is None:
            return True
        failpoint("before-offset-commit")
        try:
            # Explicit offsets: a commit without them says nothing of what this process has done.
            async with asyncio.timeout(_COMMIT_LIMIT):
                await consumer.commit(due)
        except (KafkaError, TimeoutError) as error:
            metrics.COMMIT_FAILURES.labels(self.topic.name, self.group).inc()
            log.warning("commit failed", topic=self.topic.name, group=self.group, error=repr(error))
            return False
        failpoint("after-offset-commit")
        for partition, offset in due.items():
            if (progress := self._progress.get(partition)) is not None:
                progress.committed = offset
        return True

    async def drain(self) -> None:
        """Close for good."""
        self._stopped = True
        await self._let_work_end()
        if self._committer is not None:
            self._committer.cancel()

    async def _let_work_end(self) -> None:
        self._open = False
        failpoint("mid-drain")
        self._given_up.set()  # those that wait for a dependency give up; the others go on to their end
        try:
            async with asyncio.timeout(self._settings.drain_timeout):
                await self._idle.wait()
        except TimeoutError:
            log.warning("work in hand is given up", topic=self.topic.name, group=self.group, messages=self.in_hand)
            for task in list(self._tasks):
                task.cancel()
        await self._commit()
        self._progress.clear()
        self._last_of_key.clear()
        self._given_up = asyncio.Event()

    async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        """A rebalance begins: everything in hand ends or is given up before the partitions go."""
        if revoked:
            await self._let_work_end()

    async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        """The rebalance has ended: reading goes on from the committed offsets."""
        self._progress.clear()
        self._open = not self._stopped
