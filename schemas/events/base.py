"""What all events share."""

from __future__ import annotations

from typing import Annotated, ClassVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

Revision = Annotated[int, Field(ge=0, le=2**53 - 1, description="Rises with every wish about the source.")]
ShortText = Annotated[str, Field(min_length=1, max_length=2048)]
Title = Annotated[str, Field(max_length=1_000)]
Description = Annotated[str, Field(max_length=4_000)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Event(BaseModel):
    """The data of an event. Consumers ignore fields that they don't know, so fields can be added within a version."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    type: ClassVar[str]
    """CloudEvents type, which ends with the version."""

    organization_id: UUID = Field(description="The tenant that the event belongs to.")

    def subject(self) -> str | None:
        """What the event is about: the source's id where it is known."""
        return None

    def key(self) -> bytes:
        """Kafka key: events with the same key keep their order."""
        return f"{self.organization_id}:{self.subject() or ''}".encode()

    def identity(self) -> tuple[object, ...] | None:
        """What makes the event's id, or None where each publication is an event of its own."""
        return None

    def wish_revision(self) -> int | None:
        """The revision that the header carries, where there is one."""
        return getattr(self, "revision", None)
