"""/v1/sources/{id} and what hangs on it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Body, Response
from pydantic import BaseModel, ConfigDict, Field

from schemas.codes import Code
from schemas.events import SourceMetadataChanged, SourceRefreshRequested, SourceRemoved, Wish
from schemas.events.base import Description, Title
from schemas.events.metadata import Metadata
from services.chassis.errors import RequestRefused
from services.query.access import Principal
from services.query.api.callers import Application, Caller, EventId, Writer, check_unpublished
from services.query.api.described import Accepted, SourceDescription, described
from services.query.api.paging import Cursor, Limit, Page, cursor_of, page, position
from services.query.api.parts import Parts

router = APIRouter(prefix="/sources/{source_id}", tags=["sources"])


class SourceChanges(BaseModel):
    """Fields that change; absent ones stay."""

    model_config = ConfigDict(extra="forbid")

    title: Title | None = None
    description: Description | None = None
    metadata: Metadata | None = None
    is_public: bool | None = None


class Archiving(BaseModel):
    """False brings an archived source back."""

    archived: bool = True


class ChunkDescription(BaseModel):
    """A chunk of the live revision. `text` is the characters from `start` up to `end` of the stored text."""

    chunk_id: UUID
    ordinal: int
    token_count: int
    content_hash: str
    start: int
    end: int
    heading_path: list[str]
    locator: dict[str, Any]
    text: str


class SourceEvent(BaseModel):
    """Something that became of the source."""

    id: UUID
    revision: int
    type: str
    data: dict[str, Any]
    occurred_at: datetime
    published_at: datetime | None = Field(description="When upstream was told.")


@router.get("")
async def show(source_id: UUID, principal: Caller, parts: Application) -> SourceDescription:
    """A source in whatever state, with its error where it has one."""
    return described(await parts.library.source(principal, source_id))


@router.patch("", status_code=202)
async def change(
    source_id: UUID,
    changes: SourceChanges,
    principal: Writer,
    parts: Application,
    event_id: EventId,
    response: Response,
) -> Accepted:
    """Change what stands around the content. Searches obey at once; the content is not read again."""
    fields = changes.model_dump(exclude_none=True)
    if not fields:
        raise RequestRefused(Code.REQUEST_INVALID, "no field is to change")
    check_unpublished(principal, changes.is_public)
    return await _change(source_id, principal, parts, event_id, response, **fields)


@router.delete("", status_code=202)
async def delete(
    source_id: UUID, principal: Writer, parts: Application, event_id: EventId, response: Response
) -> Accepted:
    """Take the source out, with all that was made of it, whatever state it is in."""
    base = (await parts.library.own_source(principal, source_id))["knowledge_base_id"]
    wish = SourceRemoved(organization_id=principal.organization_id, knowledge_base_id=base, source_id=source_id)
    return await accepted(parts, wish, source_id, event_id, response)


@router.post("/refresh", status_code=202)
async def refresh(
    source_id: UUID, principal: Writer, parts: Application, event_id: EventId, response: Response
) -> Accepted:
    """Fetch and ingest the source again."""
    base = (await parts.library.own_source(principal, source_id))["knowledge_base_id"]
    wish = SourceRefreshRequested(
        organization_id=principal.organization_id, knowledge_base_id=base, source_id=source_id, priority="manual"
    )
    return await accepted(parts, wish, source_id, event_id, response)


@router.post("/publish", status_code=202)
async def publish(
    source_id: UUID, principal: Writer, parts: Application, event_id: EventId, response: Response
) -> Accepted:
    """Let everyone see the source who can see its knowledge base."""
    return await _change(source_id, principal, parts, event_id, response, is_public=True)


@router.post("/archive", status_code=202)
async def archive(
    source_id: UUID,
    principal: Writer,
    parts: Application,
    event_id: EventId,
    response: Response,
    archiving: Annotated[Archiving | None, Body()] = None,
) -> Accepted:
    """Take the source out of every search, or bring it back. Nothing is lost."""
    archived = archiving.archived if archiving else True
    return await _change(source_id, principal, parts, event_id, response, archived=archived)


@router.get("/chunks")
async def chunks(
    source_id: UUID, principal: Caller, parts: Application, limit: Limit = 50, cursor: Cursor = None
) -> Page[ChunkDescription]:
    """The chunks that searches see, in the order of the document."""
    after = position(cursor, lambda found: int(found[0]))
    rows = await parts.library.chunks(principal, source_id, after=-1 if after is None else after, limit=limit + 1)
    return Page[ChunkDescription].model_validate(page(rows, limit, lambda row: cursor_of(row["ordinal"])))


@router.get("/events")
async def events(
    source_id: UUID, principal: Caller, parts: Application, limit: Limit = 50, cursor: Cursor = None
) -> Page[SourceEvent]:
    """What became of the source, oldest first."""
    after = position(cursor, _event_position)
    rows = await parts.library.events(principal, source_id, after=after, limit=limit + 1)
    found = page(rows, limit, lambda row: cursor_of(row["occurred_at"].isoformat(), row["id"]))
    return Page[SourceEvent].model_validate(found)


async def accepted(parts: Parts, wish: Wish, source_id: UUID, event_id: str | None, response: Response) -> Accepted:
    """Publish the wish, and say where to look."""
    taken = await parts.wishes.publish(wish, source_id, event_id)
    location = f"/v1/sources/{source_id}"
    response.headers["location"] = location
    return Accepted(id=source_id, location=location, taken=taken)


async def _change(
    source_id: UUID, principal: Principal, parts: Parts, event_id: str | None, response: Response, **fields: Any
) -> Accepted:
    base = (await parts.library.own_source(principal, source_id))["knowledge_base_id"]
    wish = SourceMetadataChanged(
        organization_id=principal.organization_id, knowledge_base_id=base, source_id=source_id, **fields
    )
    return await accepted(parts, wish, source_id, event_id, response)


def _event_position(found: Sequence[str]) -> tuple[datetime, UUID]:
    return datetime.fromisoformat(found[0]), UUID(found[1])
