"""The statements of the ledger that every stage uses."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from datetime import timedelta
from typing import Literal, NamedTuple
from uuid import UUID

from schemas.codes import Code
from schemas.events import SourceFailed, Work
from schemas.identifiers import event_id
from services.chassis import metrics
from services.chassis.coalescing import Coalescer
from services.chassis.errors import DependencyDown, RetryLater
from services.chassis.postgres import Postgres
from services.chassis.queries import load_queries
from services.ledger.settings import LedgerSettings

StageName = Literal["fetching", "chunking", "embedding", "indexing"]
_SQL = load_queries("services.ledger", "ledger.sql")
_MOST = 256


class _Key(NamedTuple):
    organization_id: UUID
    source_id: UUID
    revision: int


class Ledger:
    """One stage's view of the ledger. Calls that come at the same time go to the database as one."""

    def __init__(self, postgres: Postgres, settings: LedgerSettings, stage: StageName) -> None:
        self._postgres = postgres
        self._settings = settings
        self.stage = stage
        self._instance = f"{socket.gethostname()}:{os.getpid()}"
        self._progress = Coalescer(self._progress_of_many, most=_MOST)

    async def progress(self, work: Work) -> bool:
        """Note that the stage is at work on the revision. False: a newer wish has come, the work is to be dropped."""
        return await self._progress(_Key(work.organization_id, work.source_id, work.revision))

    async def _progress_of_many(self, keys: Sequence[_Key]) -> list[bool]:
        rows = await self._postgres.fetch(
            _SQL["progress"],
            {
                "organizations": [key.organization_id for key in keys],
                "sources": [key.source_id for key in keys],
                "revisions": [key.revision for key in keys],
                "stage": self.stage,
                "lease": timedelta(seconds=self._settings.lease),
            },
        )
        wanted = {_Key(*row) for row in rows}
        return [key in wanted for key in keys]

    async def fail(self, work: Work, code: Code, reason: str) -> None:
        """The revision has failed; upstream is told. Without effect on a revision that is not wanted any more."""
        async with self._postgres.transaction() as connection:
            cursor = await connection.execute(
                _SQL["fail"],
                {
                    "organization": work.organization_id,
                    "source": work.source_id,
                    "revision": work.revision,
                    "code": code,
                    "reason": reason[:2000].replace("\0", ""),
                    "type": SourceFailed.type,
                    "event_id": event_id(work.organization_id, work.source_id, work.revision, SourceFailed.type),
                },
            )
            row = await cursor.fetchone()
        if row is not None and row[0]:
            metrics.SOURCES.labels("failed", code).inc()

    async def retry(self, work: Work, error: RetryLater) -> None:
        """Try the revision again after a pause, or fail it if it has been tried too often."""
        rows = await self._postgres.fetch(
            _SQL["retry"],
            {
                "organization": work.organization_id,
                "source": work.source_id,
                "revision": work.revision,
                "code": error.code,
                "reason": error.reason[:2000].replace("\0", ""),
                "counts": int(error.counted),
                "after": timedelta(seconds=error.after or 0.0),
                "pause": timedelta(seconds=self._settings.retry_pause),
                "most": self._settings.attempts,
            },
        )
        if rows:
            metrics.SOURCES.labels("retried", error.code).inc()
        else:
            await self.fail(work, error.code, error.reason)

    async def pause(self, error: DependencyDown) -> None:
        """Note that the stage waits for a dependency. Raises DependencyDown when it is Postgres."""
        await self._postgres.fetch(
            _SQL["pause"] + " returning 1",
            {
                "stage": self.stage,
                "instance": self._instance,
                "code": error.code,
                "reason": error.reason[:500].replace("\0", ""),
                "lasts": timedelta(seconds=self._settings.pause_note),
            },
        )
