"""/v1/queries."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, Field

from services.query.api.callers import Application, Manager
from services.query.api.paging import Cursor, Limit, Page, cursor_of, page, position

router = APIRouter(prefix="/queries", tags=["queries"])


class LoggedQuery(BaseModel):
    """A search that was answered. The lists are parallel, best first."""

    id: UUID
    occurred_at: datetime
    query: str | None = Field(description="Null where texts are not kept.")
    k: int
    mode: str
    fusion: str
    space: str | None = Field(description="Embedding space that was searched; null: keywords alone.")
    degraded: str | None = Field(description="Code that says why the vector arm did not take part.")
    filters: dict[str, Any] = Field(description="Those that narrowed the search.")
    chunk_ids: list[UUID]
    source_ids: list[UUID]
    scores: list[float]
    cosines: list[float | None]
    bm25: list[float]
    vector_ranks: list[int | None]
    keyword_ranks: list[int | None]
    took_ms: float
    role: str
    audience: str
    profile_id: UUID | None
    api_key_id: UUID | None
    message_id: str | None = Field(description="As the caller gave it.")


@router.get("")
async def list_queries(
    principal: Manager, parts: Application, limit: Limit = 50, cursor: Cursor = None
) -> Page[LoggedQuery]:
    """What was searched for in the organization's name, newest first. A search is here after some seconds."""
    after = position(cursor, _position)
    rows = await parts.logged_queries.page(principal.organization_id, after, limit + 1)
    found = page(rows, limit, lambda row: cursor_of(row["occurred_at"].isoformat(), row["id"]))
    return Page[LoggedQuery].model_validate(found)


def _position(found: Sequence[str]) -> tuple[datetime, UUID]:
    return datetime.fromisoformat(found[0]), UUID(found[1])
