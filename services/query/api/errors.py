"""GET /v1/errors: every code that an answer, an event or a source can carry."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, Field

from schemas.codes import CATALOGUE

router = APIRouter(tags=["errors"])


class ErrorCode(BaseModel):
    """A code. It never changes its meaning."""

    code: str
    meaning: str
    remedy: str = Field(description="What the reader of it can do.")


class ErrorCodes(BaseModel):
    """The whole catalogue."""

    items: list[ErrorCode]


@router.get("/errors")
async def errors() -> ErrorCodes:
    """All codes with their meaning and what to do. Asks for no key."""
    return ErrorCodes(
        items=[ErrorCode(code=code, meaning=advice.meaning, remedy=advice.remedy) for code, advice in CATALOGUE.items()]
    )
