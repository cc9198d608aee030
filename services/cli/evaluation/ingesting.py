"""Brings a collection's documents through the pipeline, once: into an organization of their own, which is kept."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID, uuid5

from schemas.codes import Code
from schemas.identifiers import NAMESPACE, default_knowledge_base_id
from schemas.recipes import cutting, recipe
from services.chassis.queries import load_queries
from services.chunker.presets import PRESETS
from services.cli.evaluation.collection import Document, fingerprint
from services.cli.evaluation.system import System
from services.cli.failures import CommandFailed
from services.cli.stack import Say
from services.query.additions import Additions, Fields
from services.query.naming import named_id

_SQL = load_queries("services.cli.evaluation", "ingesting.sql")
_AT_A_TIME = 64
_POLL_SECONDS = 0.25
_SAID_EVERY = 10.0
_LONGEST_TITLE = 1_000


@dataclass(frozen=True, slots=True)
class Ingested:
    """Documents by the id of their source; those that failed, with code and reason; what was done for it."""

    organization: UUID
    documents: Mapping[UUID, Document]
    failed: Mapping[str, tuple[str, str]]
    chunks: int
    published: int
    seconds: float


async def ingest(system: System, documents: Sequence[Document], patience: float, say: Say) -> Ingested:
    """Publish what is not there yet, and wait until all documents are ready or failed.

    Raises CommandFailed where none came to an end for so many seconds of patience.
    """
    begun = time.monotonic()
    made_by = recipe(cutting(PRESETS["default"].name), system.space)
    organization = uuid5(NAMESPACE, f"evaluation:{fingerprint(documents)}:{made_by}")
    base = default_knowledge_base_id(organization)
    by_source = {named_id(organization, base, document.id): document for document in documents}
    there = await _sources(system, organization)
    missing = [document for source, document in by_source.items() if source not in there]
    if missing:
        say(f"ingesting {len(missing)} documents")
    await _publish(system, organization, missing)
    await _wait(system, organization, len(documents), patience, say)
    sources = await _sources(system, organization)
    failed = {by_source[source].id: (row[1], row[2] or "") for source, row in sources.items() if row[0] == "failed"}
    chunks = sum(row[3] for row in sources.values())
    return Ingested(organization, by_source, failed, chunks, len(missing), time.monotonic() - begun)


async def _publish(system: System, organization: UUID, documents: Sequence[Document]) -> None:
    additions, base = Additions(system.blobs), default_knowledge_base_id(organization)

    async def publish(document: Document) -> None:
        fields = Fields(title=document.title[:_LONGEST_TITLE] or None, external_id=document.id)
        addition = await additions.of_text(organization, base, document.text, None, fields)
        await system.publisher.publish(addition.wish)

    for first in range(0, len(documents), _AT_A_TIME):
        await asyncio.gather(*map(publish, documents[first : first + _AT_A_TIME]))


async def _wait(system: System, organization: UUID, number: int, patience: float, say: Say) -> None:
    done, moved, said = -1, time.monotonic(), time.monotonic()
    while True:
        states = await _states(system, organization)
        now, now_done = time.monotonic(), states.pop("ready", 0) + states.pop("failed", 0)
        if now_done != done:
            done, moved = now_done, now
        if done >= number:
            return
        others = ", ".join(f"{count} {state}" for state, count in states.items()) or "the others were not taken yet"
        if now - moved > patience:
            reason = f"{done} of {number} documents, and no further one for {patience:g} s: {others}"
            raise CommandFailed(Code.LEASE_LOST, reason)
        if now - said > _SAID_EVERY:
            said = now
            say(f"{done} of {number} documents; {others}")
        await asyncio.sleep(_POLL_SECONDS)


async def _states(system: System, organization: UUID) -> dict[str, int]:
    async with system.postgres.transaction(organization) as connection:
        cursor = await connection.execute(_SQL["states"], {"organization": organization})
        return dict(await cursor.fetchall())


async def _sources(system: System, organization: UUID) -> dict[UUID, tuple[str, str, str | None, int]]:
    """Status, code, reason and number of chunks by the source's id."""
    async with system.postgres.transaction(organization) as connection:
        cursor = await connection.execute(_SQL["sources"], {"organization": organization})
        return {row[0]: (row[1], row[2], row[3], row[4]) for row in await cursor.fetchall()}
