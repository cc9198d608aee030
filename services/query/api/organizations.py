"""/v1/organizations/{id} and /v1/usage."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, Field

from services.query.api.callers import Application, Caller

router = APIRouter(tags=["organizations"])


class Organization(BaseModel):
    """The tenant."""

    id: UUID
    slug: str
    name: str
    plan: str
    settings: dict[str, Any]
    created_at: datetime


class DayOfUsage(BaseModel):
    """What embedding cost on one day (UTC) in one space."""

    day: date
    space: str
    chunks: int = Field(description="Embedded by the provider.")
    reused_chunks: int = Field(description="Whose vectors were there.")
    tokens: int = Field(description="Sent to the provider.")
    cost_dollars: float


class Usage(BaseModel):
    """By day and space, oldest first."""

    items: list[DayOfUsage]


@router.get("/organizations/{organization_id}")
async def show_organization(organization_id: UUID, principal: Caller, parts: Application) -> Organization:
    """The caller's own organization."""
    return Organization.model_validate(await parts.library.organization(principal, organization_id))


@router.get("/usage")
async def usage(principal: Caller, parts: Application, since: date | None = None, until: date | None = None) -> Usage:
    """What embedding cost the organization; the last 30 days where none are named."""
    return Usage.model_validate({"items": await parts.library.usage(principal, since, until)})
