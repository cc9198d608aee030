"""Cuts fetched bodies into chunks and passes them on in batches."""

from __future__ import annotations

from schemas.codes import Code
from schemas.events import SourceChunked, SourceFetched
from schemas.recipes import cutting
from services.chassis.blobs import BlobStore
from services.chassis.broker import Publisher
from services.chassis.errors import SourceRefused
from services.chassis.failpoints import failpoint
from services.chunker.batches import batches, identified
from services.chunker.job import ChunkedDocument
from services.chunker.pool import ParsingPool
from services.chunker.presets import PRESETS


class Chunking:
    """The stage: read the body, parse and cut it in another process, publish."""

    def __init__(self, blobs: BlobStore, publisher: Publisher, pool: ParsingPool, tokens: int) -> None:
        """`tokens` is the largest source, in cl100k tokens."""
        self._blobs = blobs
        self._publisher = publisher
        self._pool = pool
        self._tokens = tokens

    async def chunk(self, event: SourceFetched) -> None:
        """Publish the chunks of the body, batch by batch. Raises SourceRefused, RetryLater, DependencyDown."""
        body = await self._blobs.get(event.body_key)
        document = await self._pool.parse_and_chunk(
            body,
            preset=PRESETS.get(event.preset, PRESETS["default"]),
            media_type=event.media_type,
            charset=event.charset,
            name=event.filename,
            url=event.url,
            limit=self._tokens,
        )
        if not document.chunks:
            raise SourceRefused(Code.NO_TEXT, "nothing is left that could be searched")
        for number, batch in enumerate(_batches(event, document)):
            if number:
                failpoint("between-batches")
            await self._publisher.publish(batch)


def _batches(event: SourceFetched, document: ChunkedDocument) -> list[SourceChunked]:
    parts = list(batches(identified(event.source_id, document.chunks)))
    return [
        SourceChunked(
            organization_id=event.organization_id,
            source_id=event.source_id,
            revision=event.revision,
            knowledge_base_id=event.knowledge_base_id,
            batch=number,
            batches=len(parts),
            document_title=document.title[:1000] if document.title else None,
            title=event.title,
            description=event.description,
            body_hash=event.body_hash,
            recipe=cutting(event.preset),
            url=event.url,
            etag=event.etag,
            last_modified=event.last_modified,
            language=document.language,
            chunks=part,
        )
        for number, part in enumerate(parts)
    ]
