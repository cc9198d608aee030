"""What is published on `kb.fetch.succeeded.v1`: pages that agents have fetched."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal
from uuid import UUID

from pydantic import Field

from schemas.events.base import Event, ShortText, Title


class FetchSucceeded(Event):
    """An agent has fetched a page, which may be worth keeping."""

    type: ClassVar[str] = "kb.fetch.succeeded.v1"

    url: ShortText
    origin: Literal["agent", "pipeline"] = Field("agent", description="The pipeline's own fetches promote nothing.")
    title: Title | None = None
    media_type: ShortText | None = None
    message_id: ShortText | None = Field(None, description="The agent's message that led to the fetch.")
    knowledge_base_id: UUID | None = None
    fetched_at: datetime | None = None

    def subject(self) -> str:
        """The page's address."""
        return self.url
