"""/v1/knowledge-bases and the sources in them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID, uuid5

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from schemas.events.base import ShortText
from schemas.events.source import SourceType
from schemas.identifiers import NAMESPACE
from services.query.api.adding import AddedPage, AddedText, FileForm, addition, read
from services.query.api.callers import Application, Caller, EventId, Manager, Writer, check_unpublished
from services.query.api.described import Accepted, SourceDescription, Status, described
from services.query.api.paging import Cursor, Limit, Page, cursor_of, page, position
from services.query.api.sources import accepted

router = APIRouter(prefix="/knowledge-bases", tags=["knowledge bases"])

Scope = Literal["user", "account", "public"]


class NewKnowledgeBase(BaseModel):
    """A container for sources."""

    model_config = ConfigDict(extra="forbid")

    name: ShortText
    scope: Scope = Field("account", description="user: its owner alone; account: the organization; public: everyone.")
    owner_profile_id: UUID | None = Field(None, description="Of scope user; the caller's profile where absent.")
    source_type: SourceType = "mixed"
    preset: ShortText = Field("default", description="How sources are cut.")
    time_to_live_seconds: float | None = Field(None, ge=60, le=10 * 366 * 86400, description="Refreshed after it.")


class KnowledgeBase(BaseModel):
    """A container for sources, as the caller sees it."""

    id: UUID
    organization_id: UUID
    name: str
    scope: Scope
    owner_profile_id: UUID | None
    source_type: str
    preset: str
    time_to_live_seconds: float | None
    is_default: bool
    created_at: datetime


@router.get("")
async def list_knowledge_bases(principal: Caller, parts: Application) -> Page[KnowledgeBase]:
    """All that the caller can read: few, so they come in one page."""
    return Page[KnowledgeBase].model_validate({"items": await parts.library.knowledge_bases(principal)})


@router.post("", status_code=201)
async def make_knowledge_base(
    new: NewKnowledgeBase, principal: Manager, parts: Application, event_id: EventId
) -> KnowledgeBase:
    """A new knowledge base."""
    owner = (new.owner_profile_id or principal.profile_id) if new.scope == "user" else None
    fields = {
        "name": new.name.replace("\0", ""),
        "scope": new.scope,
        "owner": owner,
        "source_type": new.source_type,
        "preset": new.preset,
        "time_to_live": new.time_to_live_seconds,
    }
    id_ = uuid5(NAMESPACE, f"{principal.organization_id} {event_id}") if event_id else None
    return KnowledgeBase.model_validate(await parts.library.make_knowledge_base(principal, id_, fields))


@router.get("/{base_id}/sources")
async def list_sources(
    base_id: UUID,
    principal: Caller,
    parts: Application,
    status: Status | None = None,
    parent_id: UUID | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[SourceDescription]:
    """The sources of a knowledge base in whatever state, without texts, in the order of their ids.

    With `parent_id` those that the crawl of that source has brought in.
    """
    after = position(cursor, lambda found: UUID(found[0]))
    rows = await parts.library.sources(
        principal, base_id, status=status, parent=parent_id, after=after, limit=limit + 1
    )
    found: dict[str, Any] = page([described(row) for row in rows], limit, lambda source: cursor_of(source.id))
    return Page[SourceDescription](**found)


_BODIES = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "oneOf": [{"$ref": f"#/components/schemas/{model.__name__}"} for model in (AddedPage, AddedText)],
                    "discriminator": {"propertyName": "kind"},
                }
            },
            "multipart/form-data": {"schema": {"$ref": f"#/components/schemas/{FileForm.__name__}"}},
        },
    }
}


@router.post("/{base_id}/sources", status_code=202, openapi_extra=_BODIES)
async def add_source(
    base_id: UUID, request: Request, principal: Writer, parts: Application, event_id: EventId, response: Response
) -> Accepted:
    """Add a page or a text as JSON, or a file as a form. Adding the same again means the same source."""
    await parts.library.own_knowledge_base(principal, base_id)
    added, upload = await read(request)
    check_unpublished(principal, added.is_public)
    found = await addition(parts.additions, principal.organization_id, base_id, added, upload)
    return await accepted(parts, found.wish, found.source_id, event_id, response)
