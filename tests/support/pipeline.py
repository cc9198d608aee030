"""The whole pipeline for tests: a database, a broker, a model provider, and services as processes."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg

from schemas.events import Event, SourceSubmitted
from services.chassis.embedded.processes import ChildProcess
from services.chassis.migrations import migrate
from services.chassis.provisioning import apply_topics
from services.chassis.settings import KafkaSettings
from services.cli.fleet import Fleet
from tests.support.messages import producer, send
from tests.support.processes import eventually_async
from tests.support.provider import EmbeddingProvider

WORKERS = ("fetcher", "chunker", "embedder", "indexer")
READY_SECONDS = 60.0

QUICK = {
    "KB_LEDGER_LEASE": "3",
    "KB_LEDGER_LAPSES": "100",
    "KB_LEDGER_RETRY_PAUSE": "0.2",
    "KB_LEDGER_PAUSE_NOTE": "10",
    "KB_DELIVERY_PAUSE": "0.1",
    "KB_DELIVERY_LONGEST_PAUSE": "0.5",
    "KB_DELIVERY_DRAIN_TIMEOUT": "5",
    "KB_KAFKA_SESSION_TIMEOUT": "1.5",
    "KB_EMBEDDER_PATIENCE": "1",
    "KB_FETCH_ALLOW_NETWORKS": "127.0.0.0/8",
    "KB_FETCH_HOST_DELAY_SECONDS": "0",
}
"""Short times, so that what takes minutes in production takes seconds in a test."""


def provider_env(provider: EmbeddingProvider, dimensions: int) -> dict[str, str]:
    """Lets services use the test's provider."""
    return {
        "KB_MODEL": "openai/text-embedding-3-small",
        "KB_OPENAI_BASE_URL": provider.base_url,
        "KB_OPENAI_API_KEY": "test",
        "KB_EMBEDDING_DIMENSIONS": str(dimensions),
    }


@dataclass
class Pipeline:
    """Services on one database and one broker. `kafka` has a prefix of its own, so that runs do not meet."""

    dsn: str
    kafka: KafkaSettings
    fleet: Fleet
    running: list[ChildProcess] = field(default_factory=list)
    postgres: Any = None
    """The server, where a test may restart it."""

    async def start(self, services: Iterable[str] = WORKERS, own: Mapping[str, str] | None = None) -> None:
        """Start one process of each and wait until all are ready."""
        children = [self.fleet.child(service, own, number=self._number(service)) for service in services]
        for child in children:
            child.start()
        self.running += children
        await asyncio.gather(*(child.ready(READY_SECONDS) for child in children))

    def _number(self, service: str) -> int:
        return sum(child.name.split("-")[0] == service for child in self.running)

    async def stop(self, *children: ChildProcess) -> None:
        """End processes, all by default, without force where they obey."""
        ending = children or tuple(self.running)
        await asyncio.gather(*(child.stop(10) for child in ending))
        self.running = [child for child in self.running if child not in ending]

    def of(self, service: str) -> ChildProcess:
        """The last started process of a service."""
        return next(child for child in reversed(self.running) if child.name.split("-")[0] == service)

    async def publish(self, *events: Event) -> None:
        """Publish on the topic of upstream's wishes, in order."""
        await send(self.kafka.bootstrap, self.kafka.topic_prefix + "kb.source.events.v1", *events)

    async def publish_quickly(self, *events: Event) -> None:
        """Publish many at once."""
        from schemas.cloudevents import to_value
        from tests.support.messages import headers_of

        topic = self.kafka.topic_prefix + "kb.source.events.v1"
        async with producer(self.kafka.bootstrap) as client:
            await asyncio.gather(
                *[
                    await client.send(topic, to_value(event), key=event.key(), headers=headers_of(event))
                    for event in events
                ]
            )

    def rows(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Rows of a statement, as the owner of all tables."""
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            return connection.execute(query, parameters or None).fetchall()  # type: ignore[arg-type]

    def statuses(self, organization: UUID) -> dict[str, int]:
        """How many sources of the organization have which status."""
        query = "select status, count(*) from knowledge_source where organization_id = %s group by 1"
        return dict(self.rows(query, organization))  # type: ignore[arg-type]

    async def taken(self, organization: UUID, count: int, seconds: float = 30.0) -> None:
        """Wait until so many wishes of the organization are in the ledger."""

        async def done() -> bool:
            query = "select count(*) from taken_event where organization_id = %s"
            return self.rows(query, organization) == [(count,)]

        await eventually_async(done, seconds)

    async def settled(self, organization: UUID, count: int, seconds: float = 60.0) -> dict[str, int]:
        """Wait until so many sources of the organization are ready, failed or deleted. Gives the statuses."""

        async def done() -> bool:
            try:
                found = self.statuses(organization)
            except psycopg.OperationalError:  # a test may have stopped the server for a moment
                return False
            return sum(found.get(status, 0) for status in ("ready", "failed", "deleted")) >= count

        await eventually_async(done, seconds)
        return self.statuses(organization)


@contextlib.asynccontextmanager
async def pipeline(
    dsn: str, bootstrap: str, home: Path, *, idempotent: bool, env: Mapping[str, str], partitions: int = 3
) -> AsyncIterator[Pipeline]:
    """Migrated database, topics under a prefix of their own, nothing started. All is stopped at the end."""
    prefix = f"p{uuid4().hex[:8]}."
    kafka = KafkaSettings(bootstrap=bootstrap, topic_prefix=prefix, idempotent=idempotent, partitions=partitions)
    await asyncio.to_thread(migrate, dsn)
    await apply_topics(kafka)
    told = {"KB_KAFKA_TOPIC_PREFIX": prefix, **env}
    made = Pipeline(dsn, kafka, Fleet(dsn, bootstrap, home, idempotent, env=told))
    try:
        yield made
    finally:
        for child in made.running:
            await child.stop(3)
        shutil.rmtree(home / "blobs", ignore_errors=True)


def text_source(organization: UUID, name: str, paragraphs: int = 1, words: int = 20, **fields: Any) -> SourceSubmitted:
    """A Markdown text whose words are its own: 20 paragraphs of 400 words make about 20 chunks."""
    body = "\n\n".join(
        f"## Part {part} of {name}\n\n"
        + " ".join(f"{name.replace(' ', '')}w{part}x{word % 97} lorem" for word in range(words))
        for part in range(paragraphs)
    )
    text = f"# {name}\n\n{body}"
    given = {"external_id": name, "kind": "text", "text": text, "media_type": "text/markdown", "title": name}
    return SourceSubmitted(organization_id=organization, **(given | fields))
