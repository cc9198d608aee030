"""Asks logged queries again, by the same code as the query service, and compares the answers."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from pydantic import TypeAdapter

from schemas.codes import Code
from services.chassis.postgres import Postgres
from services.chassis.queries import load_queries
from services.chassis.settings import PostgresSettings
from services.cli.failures import CommandFailed
from services.cli.replaying.summary import Compared
from services.encoder.encoder import Encoder
from services.encoder.opening import open_encoder
from services.encoder.settings import EncoderSettings
from services.query.access import Principal
from services.query.fusion import Fusion
from services.query.query_log.reading import LoggedQueries
from services.query.query_vectors import QueryVectors
from services.query.search import Answer, Filters, Search
from services.query.settings import AccessSettings, SearchSettings

_SQL = load_queries("services.cli.replaying", "replaying.sql")
_PAGE = 200
_MODEL_SECONDS = 120.0
_FILTERS = TypeAdapter(Filters)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is replayed, and how. None: as each query was asked; for the space: as the settings name the model."""

    organization: UUID
    last: int
    fusion: Fusion | None = None
    space: str | None = None
    k: int | None = None


@dataclass(frozen=True, slots=True)
class Replayed:
    """The comparisons, newest query first. Of `without_text` the log holds no text to ask again."""

    compared: list[Compared]
    without_text: int
    space: str | None


async def replay(postgres: PostgresSettings, plan: Plan) -> Replayed:
    """Raises CommandFailed, and what the rooms raise: DependencyDown, EncoderError."""
    access = AccessSettings()
    database = Postgres(postgres.model_copy(update={"role": "kb_query"}))
    try:
        await database.open()
        async with _encoder(plan.space) as encoder:
            vectors = QueryVectors(encoder, SearchSettings(model_timeout=_MODEL_SECONDS))
            search = Search(database, vectors, access.public_organization)
            replaying = Replaying(database, search, access.public_organization, encoder is not None)
            return await replaying.run(plan, encoder.space.name if encoder else None)
    finally:
        await database.close()


class Replaying:
    """Goes through the log of one organization."""

    def __init__(self, database: Postgres, search: Search, public_organization: UUID | None, has_model: bool) -> None:
        self._database = database
        self._search = search
        self._public_organization = public_organization
        self._has_model = has_model

    async def run(self, plan: Plan, space: str | None) -> Replayed:
        """One query after the other, so that times are those of a search alone."""
        compared, without_text = [], 0
        async for row in self._logged(plan.organization, plan.last):
            if row["query"] is None:
                without_text += 1
            else:
                compared.append(await self._compare(plan, row))
        return Replayed(compared, without_text, space)

    async def _logged(self, organization: UUID, last: int) -> AsyncIterator[dict[str, Any]]:
        log = LoggedQueries(self._database)
        after = None
        while last > 0 and (rows := await log.page(organization, after, min(last, _PAGE))):
            for row in rows:
                yield row
            last -= len(rows)
            after = rows[-1]["occurred_at"], rows[-1]["id"]

    async def _compare(self, plan: Plan, row: dict[str, Any]) -> Compared:
        principal = Principal(plan.organization, row["profile_id"], row["role"], row["audience"])
        k = plan.k or row["k"]
        begun = time.perf_counter()
        answer = await self._search.search(
            principal, row["query"], k, _FILTERS.validate_python(row["filters"]), plan.fusion or row["fusion"]
        )
        took_ms = (time.perf_counter() - begun) * 1000
        self._check(answer)
        present = await self._present(plan.organization, row)
        return Compared(
            query=row["query"],
            occurred_at=row["occurred_at"].isoformat(),
            k=k,
            before=[chunk for chunk in row["chunk_ids"] if chunk in present],
            after=[hit.row.chunk_id for hit in answer.hits],
            gone=len(row["chunk_ids"]) - len(present),
            took_ms_before=row["took_ms"],
            took_ms=took_ms,
        )

    def _check(self, answer: Answer) -> None:
        # Keywords alone must not pass for the answers of a model.
        if answer.degraded is not None and self._has_model:
            raise CommandFailed(answer.degraded.code, answer.degraded.reason)

    async def _present(self, organization: UUID, row: dict[str, Any]) -> set[UUID]:
        found: set[UUID] = set()
        for owner in dict.fromkeys((organization, self._public_organization or organization)):
            parameters = {"organization": owner, "sources": row["source_ids"], "chunks": row["chunk_ids"]}
            async with self._database.transaction(owner) as connection:
                cursor = await connection.execute(_SQL["present"], parameters)
                found.update(chunk for (chunk,) in await cursor.fetchall())
        return found


@asynccontextmanager
async def _encoder(space: str | None) -> AsyncIterator[Encoder | None]:
    """The encoder of the space, or the one that the settings name. Raises CommandFailed, EncoderRefused."""
    encoder = await open_encoder(encoder_settings(space))
    try:
        if space is not None and (encoder is None or encoder.space.name != space):
            found = encoder.space.name if encoder else "no space"
            raise CommandFailed(Code.MODEL_UNAVAILABLE, f"KB_MODEL leads to {found}, not to {space}")
        yield encoder
    finally:
        if encoder is not None:
            await encoder.aclose()


def encoder_settings(space: str | None) -> EncoderSettings:
    """The settings with the model of a space. Whose model is a folder can only be named by KB_MODEL itself.

    Raises CommandFailed for what is not the name of a space.
    """
    settings = EncoderSettings()
    if space is None or Path(settings.chosen_model).is_dir():
        return settings
    model, _, dimensions = space.rpartition("@")
    if not (model and dimensions.isascii() and dimensions.isdigit() and int(dimensions)):
        reason = f"{space!r} is no space: they are called as openai/text-embedding-3-small@1536"
        raise CommandFailed(Code.REQUEST_INVALID, reason)
    return settings.model_copy(update={"model": model, "embedding_dimensions": int(dimensions)})
