"""/v1/api-keys."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field

from schemas.events.base import ShortText
from services.query.access import Role
from services.query.api.callers import Application, Manager
from services.query.api.paging import Cursor, Limit, Page, cursor_of, page, position

router = APIRouter(prefix="/api-keys", tags=["API keys"])


class NewKey(BaseModel):
    """What a key is for."""

    model_config = ConfigDict(extra="forbid")

    name: ShortText
    role: Role = Field(
        "agent",
        description="agent: searches and reads; member: adds sources too; staff: sees what is not public; "
        "admin: manages keys and knowledge bases.",
    )
    profile_id: UUID | None = Field(None, description="The person whose own knowledge bases the key reads.")


class ApiKey(BaseModel):
    """A key without itself."""

    id: UUID
    name: str
    prefix: str = Field(description="By which a key can be recognised.")
    role: Role
    profile_id: UUID | None
    created_at: datetime
    last_used_at: datetime | None = Field(description="To the minute.")
    revoked_at: datetime | None


class ApiKeyOnce(ApiKey):
    """A new key."""

    key: str = Field(description="Shown this once.")


@router.get("")
async def list_keys(principal: Manager, parts: Application, limit: Limit = 50, cursor: Cursor = None) -> Page[ApiKey]:
    """The organization's keys, revoked ones too."""
    after = position(cursor, lambda found: UUID(found[0]))
    rows = await parts.keys.list(principal.organization_id, after, limit + 1)
    return Page[ApiKey].model_validate(page(rows, limit, lambda row: cursor_of(row["id"])))


@router.post("", status_code=201)
async def make_key(new: NewKey, principal: Manager, parts: Application) -> ApiKeyOnce:
    """A new key, which this answer alone shows."""
    name = new.name.replace("\0", "")
    row = await parts.keys.make(principal.organization_id, name, new.role, new.profile_id)
    return ApiKeyOnce.model_validate(row)


@router.delete("/{key_id}", status_code=204)
async def revoke_key(key_id: UUID, principal: Manager, parts: Application) -> Response:
    """The key is not valid any more."""
    await parts.keys.revoke(principal.organization_id, key_id)
    return Response(status_code=204)
