"""Takes upstream's wishes into the ledger: each event once, and none that is older than the last."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID

from psycopg.errors import ForeignKeyViolation
from psycopg.types.json import Jsonb

from schemas.codes import Code
from schemas.events import (
    SourceArchived,
    SourceMetadataChanged,
    SourceRefreshRequested,
    SourceRemoved,
    SourceRetitled,
    SourceSubmitted,
    Wish,
)
from schemas.identifiers import blob_belongs_to, blob_key, default_knowledge_base_id, event_id
from services.chassis.blobs import BlobStore
from services.chassis.broker import Publisher
from services.chassis.delivery import Received
from services.chassis.errors import EventRefused
from services.chassis.postgres import Connection, Postgres
from services.chassis.queries import load_queries
from services.fetcher.crawling import wishes
from services.fetcher.naming import SourceName, name_of
from services.fetcher.settings import IntakeSettings

_SQL = load_queries("services.fetcher", "intake.sql")
_FIELDS = ["title", "description", "metadata", "is_public", "archived"]
_REMOVED_FIELDS = [*_FIELDS, "language"]
_OF_WHAT_IS_THERE = ("refresh", "change_fields")
PRIORITIES = {"manual": 0, "event": 1, "promoted": 2, "scheduled": 3}


class Intake:
    """Writes wishes. A wish that was taken before changes nothing, and what follows from it is published again."""

    def __init__(self, postgres: Postgres, blobs: BlobStore, publisher: Publisher, settings: IntakeSettings) -> None:
        self._postgres = postgres
        self._blobs = blobs
        self._publisher = publisher
        self._settings = settings
        self._known: set[tuple[UUID, UUID]] = set()

    async def submit(self, received: Received[SourceSubmitted]) -> bool:
        """A document is to be there. True: a revision begins. Raises EventRefused, DependencyDown."""
        wish = received.event
        name = name_of(wish)
        body_key, media_type, filename = await self._body(wish)
        written = await self._write(
            "submit",
            received,
            name,
            kind=wish.kind,
            source_type=wish.source_type,
            title=_clean(wish.title),
            description=_clean(wish.description),
            metadata=Jsonb(_clean_json(wish.metadata)),
            is_public=wish.is_public,
            language=wish.language,
            body_key=body_key,
            media_type=media_type,
            filename=filename,
            priority=PRIORITIES[wish.priority],
        )
        return written is not None

    async def refresh(self, received: Received[SourceRefreshRequested]) -> bool:
        """A document is to be read again. Raises EventRefused(NOT_FOUND) for one that was never there."""
        name = name_of(received.event)
        return await self._write("refresh", received, name, priority=PRIORITIES[received.event.priority]) is not None

    async def change_fields(self, received: Received[SourceMetadataChanged]) -> None:
        """Fields change; the keyword side follows. Raises EventRefused(NOT_FOUND) for a source never there."""
        wish = received.event
        name = name_of(wish)
        revision, words_are_old = await self._write(
            "change_fields",
            received,
            name,
            title=_clean(wish.title),
            description=_clean(wish.description),
            metadata=None if wish.metadata is None else Jsonb(_clean_json(wish.metadata)),
            is_public=wish.is_public,
            archived=wish.archived,
            given=[field for field in _FIELDS if getattr(wish, field) is not None],
            told_id=event_id(*name.key, 0, SourceArchived.type, received.envelope.source, received.envelope.id),
            told_type=SourceArchived.type,
        )
        if words_are_old:
            await self._publisher.publish(
                SourceRetitled(organization_id=name.organization_id, source_id=name.source_id, revision=revision)
            )

    async def remove(self, received: Received[SourceRemoved]) -> bool:
        """A document is to be gone. True: the removal begins."""
        name = name_of(received.event)
        kind = "url" if name.url else "text"
        return await self._write("remove", received, name, kind=kind, fields=_REMOVED_FIELDS) is not None

    async def forget(self) -> None:
        """Drop ids of events that can't come again."""
        age = timedelta(days=self._settings.remember_days)
        async with self._postgres.transaction() as connection:
            await connection.execute(_SQL["forget"], {"age": age})

    async def _body(self, wish: SourceSubmitted) -> tuple[str | None, str | None, str | None]:
        if wish.kind == "text":
            body = (wish.text or "").replace("\0", "").encode()
            key = blob_key(wish.organization_id, sha256(body).hexdigest())
            await self._blobs.put(key, body)
            return key, _clean(wish.media_type) or "text/plain", None
        if wish.kind == "file" and wish.file is not None:
            key = wish.file.blob_key
            if "\0" in key or not blob_belongs_to(key, wish.organization_id):
                raise EventRefused(Code.EVENT_INVALID, "the blob_key is not in the organization's part of the store")
            return key, _clean(wish.file.media_type), _clean(wish.file.filename)
        return None, None, None

    async def _write(self, query: str, received: Received[Any], name: SourceName, **fields: Any) -> Any:
        wish: Wish = received.event
        parameters = {
            "organization": name.organization_id,
            "base": name.knowledge_base_id,
            "source": name.source_id,
            "url": name.url,
            "external_id": _clean(wish.external_id),
            "event_source": _clean(received.envelope.source),
            "event_id": _clean(received.envelope.id),
            "revision": wish.revision,
            "time": received.time,
            **fields,
        }
        await self._ensure(name)
        try:
            async with self._postgres.transaction() as connection:
                cursor = await connection.execute(_SQL[query], parameters)
                written = await cursor.fetchone() if cursor.description else None
                await _follow(connection, query, received, name, written, fields)
                if query not in _OF_WHAT_IS_THERE:
                    return written
                # A wish that is refused is not taken: it can be replayed once the source is there.
                state = await (await connection.execute(_SQL["state"], parameters)).fetchone()
                if state is None:
                    raise EventRefused(Code.NOT_FOUND, f"the organization has no source {name.source_id}")
                return written if query == "refresh" else state
        except ForeignKeyViolation:
            raise EventRefused(
                Code.NOT_FOUND, f"the organization has no knowledge base {name.knowledge_base_id}"
            ) from None

    async def _ensure(self, name: SourceName) -> None:
        base = default_knowledge_base_id(name.organization_id)
        if (name.organization_id, base) in self._known:
            return
        await self._postgres.fetch(_SQL["ensure_organization"], {"organization": name.organization_id, "base": base})
        self._known.add((name.organization_id, base))


async def _follow(
    connection: Connection, query: str, received: Received[Any], name: SourceName, written: Any, fields: dict[str, Any]
) -> None:
    """What the wish means for pages that the source has brought in by a crawl."""
    if query == "submit" and written:
        await wishes.submitted(connection, name, received.event.crawl)
    elif query == "change_fields":
        await wishes.changed(connection, name, fields["given"])
    elif query == "remove" and written:
        await wishes.removed(connection, name)


def _clean(text: str | None) -> str | None:
    # What was nothing but NUL is nothing; what was empty says so.
    return (text.replace("\0", "") or None) if text else text


def _clean_json(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\0", "")
    if isinstance(value, Mapping):
        return {_clean_json(name): _clean_json(inner) for name, inner in value.items()}
    return [_clean_json(inner) for inner in value] if isinstance(value, list) else value
