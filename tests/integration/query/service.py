"""The service over HTTP without a broker: its wishes go straight to the real intake."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import httpx
from pydantic import SecretStr

from schemas.cloudevents import Envelope, to_value
from schemas.codes import Code
from schemas.events import Event, SourceMetadataChanged, SourceRefreshRequested, SourceRemoved, SourceSubmitted
from services.chassis.blobs import BlobStore
from services.chassis.delivery import Received
from services.chassis.errors import DependencyDown
from services.chassis.health import Health
from services.chassis.postgres import Postgres
from services.chassis.settings import BlobSettings, PostgresSettings
from services.fetcher.intake import Intake
from services.fetcher.settings import IntakeSettings
from services.query.access import Role
from services.query.additions import Additions
from services.query.api.application import make_app
from services.query.api.parts import Parts
from services.query.keys import Keys
from services.query.library import Library
from services.query.neighbours import Neighbours
from services.query.query_log.reading import LoggedQueries
from services.query.query_log.writing import QueryLog
from services.query.query_vectors import QueryVectors
from services.query.search import Search
from services.query.settings import AccessSettings, QueryLogSettings, RequestSettings, SearchSettings
from services.query.wishes import EVENT_SOURCE, Wishes
from tests.integration.query.rows import WordEncoder


class StraightToIntake:
    """A publisher that takes the way of an event through the broker in one step."""

    def __init__(self, postgres: Postgres, blobs: BlobStore) -> None:
        self.intake = Intake(postgres, blobs, self, IntakeSettings())  # type: ignore[arg-type]
        self.published: list[Event] = []
        self.down = False

    async def publish(self, event: Event, *, id: str | None = None, time: datetime | None = None) -> None:
        if self.down:
            raise DependencyDown(Code.BROKER_DOWN, "no broker at 10.0.0.1:9092")
        self.published.append(event)
        time = time or datetime.now(UTC)
        received: Received[Any] = Received(
            event, Envelope(id or "", EVENT_SOURCE, event.type, time), time, to_value(event)
        )
        if isinstance(event, SourceSubmitted):
            await self.intake.submit(received)
        elif isinstance(event, SourceRefreshRequested):
            await self.intake.refresh(received)
        elif isinstance(event, SourceMetadataChanged):
            await self.intake.change_fields(received)
        elif isinstance(event, SourceRemoved):
            await self.intake.remove(received)


@dataclass
class Service:
    """What tests talk to and look into."""

    client: httpx.AsyncClient
    keys: Keys
    encoder: WordEncoder
    publisher: StraightToIntake
    blobs: BlobStore
    query_log: QueryLog
    """Writes when it is told to: nothing runs beside the tests."""

    async def key(self, organization: UUID, role: Role = "member", profile: UUID | None = None) -> dict[str, str]:
        """Headers of a new key."""
        made = await self.keys.make(organization, "test", role, profile)
        return {"authorization": f"Bearer {made['key']}"}


@asynccontextmanager
async def running(
    dsn: str,
    *,
    access: AccessSettings,
    encoder: WordEncoder | None,
    search: SearchSettings | None = None,
    query_log: QueryLogSettings | None = None,
    is_logging: bool = True,
) -> AsyncIterator[Service]:
    """The service on a database that is migrated."""
    secret = SecretStr(dsn)
    postgres = Postgres(PostgresSettings(dsn=secret, role="kb_query", pool=4))
    pipeline = Postgres(PostgresSettings(dsn=secret, role="kb_pipeline", pool=2))
    log_postgres = Postgres(PostgresSettings(dsn=secret, role="kb_query", pool=1))
    log = QueryLog(log_postgres, query_log or QueryLogSettings(), access.public_organization, is_on=is_logging)
    blobs = BlobStore(BlobSettings(url="memory://"))
    publisher = StraightToIntake(pipeline, blobs)
    keys = Keys(postgres, access.key_seconds)
    parts = Parts(
        access=access,
        search=Search(
            postgres, QueryVectors(encoder, search or SearchSettings(model_pause=0)), access.public_organization
        ),
        neighbours=Neighbours(postgres, access.public_organization),
        query_log=log,
        logged_queries=LoggedQueries(postgres),
        library=Library(postgres, access.public_organization),
        keys=keys,
        wishes=Wishes(publisher, postgres, RequestSettings()),
        additions=Additions(blobs),
    )
    app = make_app(parts, Health(started=True), largest=4 * 1024**2)
    pools = (postgres, pipeline, log_postgres)
    for pool in pools:
        await pool.open()
    try:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
            yield Service(client, keys, encoder or WordEncoder(), publisher, blobs, log)
    finally:
        for pool in pools:
            await pool.close()
