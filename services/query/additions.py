"""What a request adds, as the event that upstream would publish for it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from uuid import UUID

from schemas.events import FileReference, SourceSubmitted
from schemas.events.source import INLINE_TEXT_LIMIT, Crawl, SourceType
from schemas.identifiers import blob_key
from services.chassis.blobs import BlobStore
from services.query.naming import name_by_content, named_id, page_id

_SUFFIXES = {"text/markdown": "md", "text/html": "html"}


@dataclass(frozen=True, slots=True)
class Fields:
    """What is known about a source beside its content."""

    title: str | None = None
    description: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    source_type: SourceType = "mixed"
    is_public: bool = True
    external_id: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Addition:
    """The wish, and the id of the source that it leads to."""

    wish: SourceSubmitted
    source_id: UUID


def of_page(organization: UUID, base: UUID, url: str, fields: Fields, crawl: Crawl | None = None) -> Addition:
    """A page, with `crawl` the start of a site.

    Raises SourceRefused(URL_INVALID), also where the publisher has a name of its own for it.
    """
    by_url = page_id(organization, base, url)
    source = named_id(organization, base, fields.external_id) if fields.external_id else by_url
    wish = _wish(organization, base, fields, kind="url", url=url, external_id=fields.external_id, crawl=crawl)
    return Addition(wish, source)


class Additions:
    """Additions whose bodies go to the blob store before the wish is published."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs

    async def of_text(
        self, organization: UUID, base: UUID, text: str, media_type: str | None, fields: Fields
    ) -> Addition:
        """A text; a long one travels by reference. Raises DependencyDown(BLOB_STORE_DOWN)."""
        text = text.replace("\0", "").encode("utf-8", "replace").decode()
        body = text.encode()
        if len(json.dumps(text, ensure_ascii=False).encode()) > INLINE_TEXT_LIMIT:
            filename = f"text.{_SUFFIXES.get(media_type or '', 'txt')}"
            return await self.of_file(organization, base, body, filename, media_type or "text/plain", fields)
        name = fields.external_id or name_by_content(body)
        wish = _wish(organization, base, fields, kind="text", text=text, media_type=media_type, external_id=name)
        return Addition(wish, named_id(organization, base, name))

    async def of_file(
        self, organization: UUID, base: UUID, body: bytes, filename: str, media_type: str | None, fields: Fields
    ) -> Addition:
        """A file. Raises DependencyDown(BLOB_STORE_DOWN)."""
        key = blob_key(organization, sha256(body).hexdigest())
        await self._blobs.put(key, body)
        name = fields.external_id or name_by_content(body)
        file = FileReference(blob_key=key, filename=filename, media_type=media_type)
        wish = _wish(organization, base, fields, kind="file", file=file, external_id=name)
        return Addition(wish, named_id(organization, base, name))


def _wish(organization: UUID, base: UUID, fields: Fields, **content: Any) -> SourceSubmitted:
    return SourceSubmitted(
        organization_id=organization,
        knowledge_base_id=base,
        title=fields.title,
        description=fields.description,
        metadata=fields.metadata,
        source_type=fields.source_type,
        is_public=fields.is_public,
        language=fields.language,
        priority="manual",
        **content,
    )
