"""What the stages of the pipeline pass on."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from schemas.events.base import Description, Event, Revision, Sha256, ShortText, Title

CHUNKS_PER_BATCH = 24
"""So many chunks with vectors of 3,072 numbers (16 KiB as base64) and 800 tokens of text stay below BATCH_BYTES."""

BATCH_BYTES = 524_288
"""Bound of a batch of chunks as JSON, half of Kafka's default limit of a message."""


class Work(Event):
    """Work on one revision of one source. Work for an older revision is dropped."""

    source_id: UUID
    revision: Revision

    def subject(self) -> str:
        """The source's id."""
        return str(self.source_id)

    def identity(self) -> tuple[object, ...]:
        """One event for each source, revision and type."""
        return ()


class SourceDue(Work):
    """The ledger gives a source out: its body is to be fetched."""

    type: ClassVar[str] = "kb.source.due.v1"

    knowledge_base_id: UUID
    kind: Literal["url", "file", "text"]
    url: ShortText | None = None
    body_key: ShortText | None = None
    filename: ShortText | None = None
    media_type: ShortText | None = None
    title: Title | None = None
    description: Description | None = None
    preset: ShortText = "default"
    body_hash: Sha256 | None = Field(None, description="Of the live revision: the same again means no work.")
    fetched_url: ShortText | None = Field(None, description="Where the live body came from in the end.")
    etag: str | None = Field(None, description="Of the live revision, for a conditional request.")
    last_modified: str | None = None
    crawled: bool = Field(False, description="The page is part of a crawl: its links are wanted.")


class SourceFetched(Work):
    """The body lies in the blob store."""

    type: ClassVar[str] = "kb.source.fetched.v1"

    knowledge_base_id: UUID
    body_key: ShortText
    body_hash: Sha256
    url: ShortText | None = Field(None, description="Where the body came from in the end, without fragment.")
    filename: ShortText | None = None
    media_type: ShortText | None = None
    charset: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    title: Title | None = None
    description: Description | None = None
    preset: ShortText = "default"


class Locator(BaseModel):
    """Where in the original a chunk begins."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    page: int | None = None
    label: str | None = Field(None, description="The page number as it is printed.")
    slide: int | None = None
    anchor: str | None = Field(None, description="Id of an element of the page.")


class Chunk(BaseModel):
    """A piece of the source's stored text. `text` is exactly the characters from `start` up to `end`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: UUID
    order: Annotated[int, Field(ge=0)]
    text: str
    token_count: Annotated[int, Field(ge=1, description="In cl100k tokens.")]
    heading_path: tuple[str, ...] = ()
    locator: Locator = Locator()
    start: int
    end: int
    content_hash: Sha256


class Batch(Work):
    """Some of a revision's chunks. The batches of a revision are numbered from 0 and each knows how many there are."""

    knowledge_base_id: UUID
    batch: Annotated[int, Field(ge=0)]
    batches: Annotated[int, Field(ge=1)]
    document_title: Title | None = Field(None, description="As found in the document.")
    title: Title | None = Field(None, description="As given with the source.")
    description: Description | None = None
    body_hash: Sha256
    recipe: ShortText = Field(description="How the chunks were cut: version of the chunker, and preset.")
    url: ShortText | None = Field(None, description="Where the body came from in the end.")
    etag: str | None = None
    last_modified: str | None = None
    language: str | None = Field(None, description="ISO 639-1 code of the text, where it is known.")

    def identity(self) -> tuple[object, ...]:
        """One event for each batch of the revision, and for each body where a body changed under the revision."""
        return self.batch, self.body_hash


class SourceChunked(Batch):
    """A batch of chunks that wait for their vectors."""

    type: ClassVar[str] = "kb.source.chunked.v1"

    chunks: tuple[Chunk, ...]


class SourceEmbedded(Batch):
    """A batch of chunks with their vectors."""

    type: ClassVar[str] = "kb.source.embedded.v1"

    chunks: tuple[Chunk, ...]
    space: ShortText | None = Field(None, description="Name of the embedding space; absent: no vectors.")
    dimensions: int | None = None
    vectors: tuple[str, ...] = Field(
        (), description="One for each chunk: base64 of little-endian float32. Empty: no vectors."
    )


class SourceRemovalDue(Work):
    """All that was made of the source is to be removed."""

    type: ClassVar[str] = "kb.source.removal_due.v1"


class SourceRetitled(Work):
    """Title or description changed: what is searched by keyword follows at once."""

    type: ClassVar[str] = "kb.source.retitled.v1"
