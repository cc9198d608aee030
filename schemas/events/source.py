"""What upstream features publish on `kb.source.events.v1`: wishes about sources."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator

from schemas.events.base import Description, Event, Revision, ShortText, Title
from schemas.events.metadata import Metadata

SourceType = Literal["upload", "gdrive", "notion", "creative_ingest", "automation", "mixed"]
Priority = Literal["manual", "event", "promoted", "scheduled"]
Language = Annotated[str, Field(pattern="^[a-z]{2}$")]
INLINE_TEXT_LIMIT = 262_144
"""Characters of a text that travels in the event; a longer one goes by reference, below Kafka's 1 MiB."""


class Wish(Event):
    """Names a source: by `source_id`, else by `external_id`, else by `url`."""

    knowledge_base_id: UUID | None = Field(None, description="Absent: the organization's default knowledge base.")
    source_id: UUID | None = Field(None, description="Absent: derived from organization, knowledge base and name.")
    external_id: ShortText | None = Field(None, description="The publisher's own stable name of the source.")
    url: ShortText | None = Field(None, description="Absolute http or https address.")
    revision: Revision | None = Field(
        None, description="The publisher's count of wishes about this source. Absent: the event's time orders them."
    )

    def subject(self) -> str | None:
        """The source's id, or the name that stands for it."""
        return str(self.source_id) if self.source_id else self.external_id or self.url

    @model_validator(mode="after")
    def _is_named(self) -> Self:
        if not (self.source_id or self.external_id or self.url):
            raise ValueError("one of source_id, external_id and url is needed")
        return self


class FileReference(BaseModel):
    """An uploaded file that lies in the blob store, in the part of its organization."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    blob_key: ShortText
    filename: ShortText
    media_type: ShortText | None = None


class Crawl(BaseModel):
    """The page is the start of a site: the pages that it leads to become sources of their own."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    max_pages: Annotated[int, Field(ge=1, le=5_000)] = 200
    depth: Annotated[int, Field(ge=0, le=20, description="Most links from the start to a page.")] = 8
    prefix: ShortText | None = Field(
        None,
        pattern="^/",
        description="Path that the paths of all pages begin with. Absent: the folder that the start lies in.",
    )


class SourceSubmitted(Wish):
    """A document is to be in the knowledge base, as it is described here."""

    type: ClassVar[str] = "kb.source.submitted.v1"

    kind: Literal["url", "file", "text"]
    text: Annotated[str, Field(max_length=INLINE_TEXT_LIMIT)] | None = None
    file: FileReference | None = None
    title: Title | None = None
    description: Description | None = None
    metadata: Metadata = Field(default_factory=dict)
    source_type: SourceType = "mixed"
    is_public: bool = Field(True, description="False: seen by staff only until published.")
    media_type: ShortText | None = Field(None, description="Of the text: text/plain, text/markdown or text/html.")
    language: Language | None = Field(None, description="ISO 639-1 code. Absent: as found in the document.")
    crawl: Crawl | None = Field(None, description="Of a URL: its site comes with it. Absent: the page alone.")
    priority: Priority = "event"

    @model_validator(mode="after")
    def _has_its_content(self) -> Self:
        given = {"url": self.url, "text": self.text, "file": self.file}[self.kind]
        if given is None:
            raise ValueError(f"a source of kind {self.kind} needs the field {self.kind}")
        if self.kind != "url" and not (self.source_id or self.external_id):
            raise ValueError("a text or file needs source_id or external_id")
        if self.kind != "url" and self.crawl:
            raise ValueError("only a source of kind url can be crawled")
        return self


class SourceRefreshRequested(Wish):
    """The document is to be fetched and ingested again."""

    type: ClassVar[str] = "kb.source.refresh_requested.v1"

    priority: Priority = "event"


class SourceMetadataChanged(Wish):
    """Fields of the source have changed; absent ones stay. The content is not read again."""

    type: ClassVar[str] = "kb.source.metadata_changed.v1"

    title: Title | None = None
    description: Description | None = None
    metadata: Metadata | None = None
    is_public: bool | None = None
    archived: bool | None = Field(None, description="True: out of every search until it is set back.")


class SourceRemoved(Wish):
    """The document is to be gone, with all that was made of it."""

    type: ClassVar[str] = "kb.source.removed.v1"
