"""What upstream features hear on `kb.source.status.v1`."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from pydantic import Field

from schemas.events.base import Event, Revision, ShortText


class Status(Event):
    """Something that upstream may want to know has become of a source."""

    source_id: UUID
    knowledge_base_id: UUID
    external_id: ShortText | None = None
    revision: Revision

    def subject(self) -> str:
        """The source's id."""
        return str(self.source_id)


class SourceIndexed(Status):
    """The revision is live: searches see it."""

    type: ClassVar[str] = "kb.source.indexed.v1"

    chunk_count: int
    token_count: int
    unchanged: bool = Field(False, description="The content was the same as before: nothing was embedded.")


class SourceFailed(Status):
    """The revision did not become live, and is not tried again. An earlier one that was live still is."""

    type: ClassVar[str] = "kb.source.failed.v1"

    code: ShortText
    reason: str
    live_revision: Revision | None = None


class SourceDeleted(Status):
    """All that was made of the source is gone."""

    type: ClassVar[str] = "kb.source.deleted.v1"


class SourceArchived(Status):
    """The source is out of every search, or back in it."""

    type: ClassVar[str] = "kb.source.archived.v1"

    archived: bool
