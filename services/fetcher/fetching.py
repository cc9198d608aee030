"""Brings the body of a due source into the blob store."""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple, Protocol

from schemas.codes import Code
from schemas.events import SourceDue, SourceFetched, SourceIndexed
from schemas.identifiers import blob_belongs_to, blob_key, event_id
from schemas.recipes import cutting
from services.chassis import metrics
from services.chassis.blobs import BlobStore
from services.chassis.broker import Publisher
from services.chassis.errors import SourceRefused
from services.chassis.postgres import Postgres
from services.chassis.queries import load_queries
from services.fetcher.crawling.crawl import Crawling
from services.fetcher.http.answers import Fetched, NotModified

_SQL = load_queries("services.fetcher", "dispatch.sql")


class Fetcher(Protocol):
    """Gets a page. Raises SourceRefused and RetryLater."""

    async def fetch(
        self,
        url: str,
        *,
        etag: str | None = None,
        last_modified: str | None = None,
        validated_url: str | None = None,
    ) -> Fetched | NotModified:
        """The page, or that it is as it was when the validators were given."""
        ...


class Body(NamedTuple):
    """Where a body lies, and what is known of it."""

    key: str
    digest: str
    url: str | None = None
    media_type: str | None = None
    charset: str | None = None
    etag: str | None = None
    last_modified: str | None = None


class Fetching:
    """The stage that comes after dispatch."""

    def __init__(
        self,
        postgres: Postgres,
        blobs: BlobStore,
        publisher: Publisher,
        pages: Fetcher,
        crawling: Crawling | None = None,
    ) -> None:
        self._postgres = postgres
        self._blobs = blobs
        self._publisher = publisher
        self._pages = pages
        self._crawling = crawling

    async def fetch(self, due: SourceDue) -> None:
        """Get the body and pass it on; or, where it is as before, let the live chunks serve the new revision."""
        body = await self._body(due)
        if body is None or (body.digest == due.body_hash and await self._unchanged(due, body)):
            return
        await self._publisher.publish(
            SourceFetched(
                organization_id=due.organization_id,
                source_id=due.source_id,
                revision=due.revision,
                knowledge_base_id=due.knowledge_base_id,
                body_key=body.key,
                body_hash=body.digest,
                url=body.url,
                filename=due.filename,
                media_type=body.media_type or due.media_type,
                charset=body.charset,
                etag=body.etag,
                last_modified=body.last_modified,
                title=due.title,
                description=due.description,
                preset=due.preset,
            )
        )

    async def _body(self, due: SourceDue) -> Body | None:
        if due.kind == "url":
            return await self._page(due)
        key = due.body_key or ""
        if not blob_belongs_to(key, due.organization_id):
            raise SourceRefused(Code.BODY_MISSING, "the source names no body of its organization")
        digest = key.rpartition("/")[2]
        if key != blob_key(due.organization_id, digest):  # put there by upstream under a name of its own
            digest = sha256(await self._blobs.get(key)).hexdigest()
        return Body(key, digest)

    async def _page(self, due: SourceDue) -> Body | None:
        crawling = self._crawling if due.crawled else None
        try:
            page = await self._pages.fetch(
                due.url or "", etag=due.etag, last_modified=due.last_modified, validated_url=due.fetched_url
            )
        except SourceRefused as error:
            if crawling:
                await crawling.refused(due, error)
            raise
        if isinstance(page, NotModified):
            if crawling:
                await crawling.stands(due, page.url_final)
            if due.body_hash and await self._unchanged(due, Body("", due.body_hash)):
                return None
            # The page is as before, but is to be cut or embedded in another way: the body is needed after all.
            page = await self._pages.fetch(due.url or "")
            if isinstance(page, NotModified):
                raise SourceRefused(Code.HTTP_STATUS, "304 Not Modified without a condition")
        elif crawling and not await crawling.found(due, page):
            return None
        key = blob_key(due.organization_id, page.sha256)
        await self._blobs.put(key, page.body)
        return Body(key, page.sha256, page.url_final, page.media_type, page.charset, page.etag, page.last_modified)

    async def _unchanged(self, due: SourceDue, body: Body) -> bool:
        ((count,),) = await self._postgres.fetch(
            _SQL["unchanged"],
            {
                "organization": due.organization_id,
                "source": due.source_id,
                "revision": due.revision,
                "body_hash": body.digest,
                "cutting": cutting(due.preset),
                "etag": body.etag,
                "last_modified": body.last_modified,
                "type": SourceIndexed.type,
                "event_id": event_id(due.organization_id, due.source_id, due.revision, SourceIndexed.type),
            },
        )
        if count:
            metrics.SOURCES.labels("unchanged", "").inc()
        return bool(count)
