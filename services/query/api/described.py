"""How sources are described, and what a write answers."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from schemas.codes import CATALOGUE, Code
from services.query.freshness import Freshness, freshness_of

Status = Literal["pending", "ingesting", "ready", "failed", "archived"]


class SourceError(BaseModel):
    """Why a source failed, or what it waits for."""

    code: str
    reason: str | None
    remedy: str | None = None


class CrawlDescription(BaseModel):
    """The crawl that begins at a source, and how far it is. Pages are the start and what it has brought in."""

    max_pages: int
    depth: int
    prefix: str | None
    pages: int = Field(description="That are not archived.")
    ready: int
    failed: int
    pending: int = Field(description="Waiting, or in the pipeline.")
    is_settled: bool = Field(description="Whether the last page of the present round has come.")


class SourceDescription(BaseModel):
    """A source without its texts."""

    id: UUID
    knowledge_base_id: UUID
    kind: Literal["url", "file", "text"]
    url: str | None
    external_id: str | None
    source_type: str
    title: str | None
    document_title: str | None = Field(description="As found in the document.")
    description: str | None
    metadata: dict[str, Any]
    is_public: bool
    language: str | None = Field(description="As given: ISO 639-1.")
    document_language: str | None = Field(description="As found in the document.")
    parent_id: UUID | None = Field(description="The start of the crawl that brought the page in.")
    crawl: CrawlDescription | None = Field(description="Where the source is the start of one.")
    filename: str | None
    media_type: str | None
    status: Status
    stage: str | None = Field(description="While pending or ingesting.")
    error: SourceError | None
    revision: int
    live_revision: int | None = Field(description="What searches see; null: nothing yet.")
    fetched_url: str | None
    chunk_count: int
    token_count: int
    used_30d: int | None = Field(
        description="Searches of the last 30 days whose answers held a chunk of it; null: of another organization."
    )
    created_at: datetime
    updated_at: datetime
    last_fetched_at: datetime | None
    freshness: Freshness | None = Field(
        description="Of a page: refreshed within 30 days, aging, or stale from 90 days on."
    )
    ready_at: datetime | None
    archived_at: datetime | None


class Accepted(BaseModel):
    """The wish has been published. It is carried out by the pipeline; the source shows how far it is."""

    id: UUID
    location: str
    taken: bool = Field(description="Whether the ledger has it already, so that the source shows it.")


def described(row: dict[str, Any]) -> SourceDescription:
    """A row of knowledge_source as callers see it."""
    error = None
    if code := row["error_code"]:
        remedy = CATALOGUE[Code(code)].remedy if code in Code.__members__ else None
        error = SourceError(code=code, reason=row["error_reason"], remedy=remedy)
    status = "archived" if row["archived_at"] else row["status"]
    freshness = freshness_of(row["last_fetched_at"]) if row["kind"] == "url" else None
    return SourceDescription.model_validate({**row, "status": status, "error": error, "freshness": freshness})
