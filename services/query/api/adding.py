"""POST /v1/knowledge-bases/{id}/sources: what a request adds, as JSON or as an uploaded file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from starlette.datastructures import UploadFile

from schemas.events.base import Description, ShortText, Title
from schemas.events.metadata import Metadata
from schemas.events.source import Crawl, Language, SourceType
from services.query.additions import Addition, Additions, Fields, of_page

LONGEST_TEXT = 16 * 1024**2


class AddedFields(BaseModel):
    """What is known about a source beside its content."""

    model_config = ConfigDict(extra="forbid")

    title: Title | None = None
    description: Description | None = None
    metadata: Metadata = Field(default_factory=dict)
    source_type: SourceType = "mixed"
    is_public: bool = Field(True, description="False: seen by staff only until published.")
    language: Language | None = Field(None, description="ISO 639-1 code. Absent: as found in the document.")
    external_id: ShortText | None = Field(
        None, description="The caller's stable name: adding it again replaces the source's content."
    )

    def fields(self) -> Fields:
        """Without the content."""
        return Fields(
            title=self.title,
            description=self.description,
            metadata=self.metadata,
            source_type=self.source_type,
            is_public=self.is_public,
            external_id=self.external_id,
            language=self.language,
        )


class AddedCrawl(Crawl):
    """The pages that the page leads to come with it, as sources of their own."""

    model_config = ConfigDict(extra="forbid")


class AddedPage(AddedFields):
    """A page of the web, or with `crawl` a site."""

    kind: Literal["url"]
    url: ShortText = Field(description="Absolute http or https address.")
    crawl: AddedCrawl | None = None


class AddedText(AddedFields):
    """A text. Without external_id the same text is the same source."""

    kind: Literal["text"]
    text: Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
    media_type: Literal["text/plain", "text/markdown", "text/html"] = "text/plain"


class AddedFile(AddedFields):
    """An uploaded file. In a form, `metadata` is JSON. Without external_id the same content is the same source."""

    source_type: SourceType = "upload"
    metadata: Metadata = Field(default_factory=dict, description="JSON.")

    @model_validator(mode="before")
    @classmethod
    def _metadata_is_json(cls, given: Any) -> Any:
        if isinstance(given, dict) and isinstance(given.get("metadata"), str):
            try:
                return {**given, "metadata": json.loads(given["metadata"])}
            except (ValueError, RecursionError):
                raise ValueError("metadata is not JSON") from None
        return given


class FileForm(AddedFile):
    """How OpenAPI describes the form."""

    file: str = Field(json_schema_extra={"format": "binary"})


Added = Annotated[AddedPage | AddedText, Field(discriminator="kind")]
_ADDED: TypeAdapter[AddedPage | AddedText] = TypeAdapter(Added)


@dataclass(frozen=True, slots=True)
class Upload:
    """A file of a form. `filename` is without NUL and not long."""

    body: bytes
    filename: str
    media_type: str | None


async def read(request: Request) -> tuple[AddedFields, Upload | None]:
    """The fields of the request, and the file of a form. Raises RequestValidationError."""
    try:
        if request.headers.get("content-type", "").startswith("multipart/form-data"):
            return await _read_form(request)
        return _ADDED.validate_json(await request.body()), None
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_input=False, include_url=False)) from None


async def _read_form(request: Request) -> tuple[AddedFile, Upload]:
    async with request.form(max_files=1, max_fields=20) as form:
        given = dict(form)
        file = given.pop("file", None)
        if not isinstance(file, UploadFile):
            raise _invalid("the form has no file")
        body = await file.read()
        if not body:
            raise _invalid("the file is empty")
        filename = (file.filename or "").replace("\0", "")[-255:] or "file"
        upload = Upload(body, filename, (file.content_type or "")[:255] or None)
        return AddedFile.model_validate(given), upload


async def addition(
    additions: Additions, organization: UUID, base: UUID, added: AddedFields, upload: Upload | None
) -> Addition:
    """The wish for what was added. Raises SourceRefused(URL_INVALID), DependencyDown(BLOB_STORE_DOWN)."""
    fields = added.fields()
    if isinstance(added, AddedPage):
        crawl = Crawl(**added.crawl.model_dump()) if added.crawl else None
        return of_page(organization, base, added.url, fields, crawl)
    if isinstance(added, AddedText):
        return await additions.of_text(organization, base, added.text, added.media_type, fields)
    if upload is None:
        raise _invalid("the form has no file")
    return await additions.of_file(organization, base, upload.body, upload.filename, upload.media_type, fields)


def _invalid(reason: str) -> RequestValidationError:
    return RequestValidationError([{"loc": ("body", "file"), "msg": reason, "type": "value_error"}])
