"""Keyset pages: a cursor names the last row of a page, so that rows that come and go shift nothing."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Query
from pydantic import BaseModel, Field

from schemas.codes import Code
from services.chassis.errors import RequestRefused

Item = TypeVar("Item")
Position = TypeVar("Position")

Limit = Annotated[int, Query(ge=1, le=200, description="Rows of a page.")]
Cursor = Annotated[str | None, Query(max_length=200, description="`next_cursor` of the page before.")]


class Page(BaseModel, Generic[Item]):
    """Some rows, and how to get at the ones behind them."""

    items: list[Item]
    next_cursor: str | None = Field(None, description="Absent on the last page.")


def cursor_of(*parts: object) -> str:
    """A cursor that holds the position."""
    return base64.urlsafe_b64encode(" ".join(map(str, parts)).encode()).decode().rstrip("=")


def position(cursor: str | None, read: Callable[[Sequence[str]], Position]) -> Position | None:
    """What the cursor holds. Raises RequestRefused(REQUEST_INVALID) for one that was not given out here."""
    if cursor is None:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        return read(base64.b64decode(padded, altchars=b"-_", validate=True).decode().split(" "))
    except (binascii.Error, ValueError, IndexError):
        raise RequestRefused(Code.REQUEST_INVALID, "the cursor is not one of this list") from None


def page(rows: list[Any], limit: int, cursor: Callable[[Any], str]) -> dict[str, Any]:
    """The page of rows that were asked for with one more than `limit`."""
    kept = rows[:limit]
    return {"items": kept, "next_cursor": cursor(kept[-1]) if len(rows) > limit else None}
