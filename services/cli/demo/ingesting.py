"""Publishes documents as an upstream feature would, and waits until they can be found."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from uuid import UUID

from schemas.codes import Code
from schemas.events import FileReference, SourceSubmitted
from schemas.identifiers import blob_key
from services.chassis.blobs import BlobStore
from services.chassis.broker import Publisher
from services.chassis.settings import BlobSettings, KafkaSettings
from services.cli.addresses import Addresses
from services.cli.client import Client
from services.cli.demo.documents import Document
from services.cli.failures import CommandFailed
from services.fetcher.naming import name_of

_POLL_SECONDS = 0.5
_DONE = ("ready", "failed", "archived")


@dataclass
class Progress:
    """How far the documents are, by name."""

    ready: dict[str, dict[str, Any]] = field(default_factory=dict)
    failed: dict[str, tuple[str, str]] = field(default_factory=dict)
    unsupported: set[str] = field(default_factory=set)

    @property
    def done(self) -> int:
        """Documents that came to an end."""
        return len(self.ready) + len(self.failed) + len(self.unsupported)


class Ingest:
    """Documents of one organization, into its default knowledge base."""

    def __init__(self, client: Client, addresses: Addresses, say: Callable[[str], None]) -> None:
        self._client = client
        self._addresses = addresses
        self._say = say

    async def run(self, documents: list[Document], seconds: float) -> Progress:
        """Publish all, and report until each is ready or failed. Raises CommandFailed where that takes too long."""
        bases = (await asyncio.to_thread(self._client.call, "GET", "/v1/knowledge-bases"))["items"]
        base = next(base for base in bases if base["is_default"])
        organization, base_id = UUID(base["organization_id"]), UUID(base["id"])
        wishes = {document.name: _wish(document, organization, base_id) for document in documents}
        ids = {str(name_of(wish).source_id): name for name, wish in wishes.items()}
        old = {source["id"]: source["revision"] for source in await self._sources(base_id)}
        self._say(f"ingesting {len(documents)} documents")
        await self._publish(documents, wishes)
        return await self._wait(base_id, ids, old, seconds)

    async def _publish(self, documents: list[Document], wishes: dict[str, SourceSubmitted]) -> None:
        blobs = BlobStore(BlobSettings(url=self._addresses.blobs))
        settings = KafkaSettings(bootstrap=self._addresses.bootstrap, idempotent=False, topic_prefix="")
        publisher = Publisher(settings, "/kb/cli")
        await publisher.open()
        try:
            for document in documents:
                wish = wishes[document.name]
                if wish.file is not None and document.body is not None:
                    await blobs.put(wish.file.blob_key, document.body)
                await publisher.publish(wish)
        finally:
            await publisher.close()

    async def _wait(self, base: UUID, ids: dict[str, str], old: dict[str, int], seconds: float) -> Progress:
        begun, said = time.monotonic(), -1
        while True:
            progress = Progress()
            for source in await self._sources(base):
                # What was there before counts once the ledger has begun a new revision of it.
                if source["id"] in ids and source["revision"] > old.get(source["id"], 0):
                    _note(progress, ids[source["id"]], source)
            passed = time.monotonic() - begun
            if progress.done != said:
                said = progress.done
                others = f", {len(progress.unsupported)} unsupported" if progress.unsupported else ""
                counts = f"{len(progress.ready)} of {len(ids)} ready, {len(progress.failed)} failed{others}"
                self._say(f"{passed:6.1f} s  {counts}")
            if progress.done == len(ids):
                return progress
            if passed > seconds:
                left = len(ids) - progress.done
                raise CommandFailed(Code.LEASE_LOST, f"{left} documents are not ready after {seconds:g} s")
            await asyncio.sleep(_POLL_SECONDS)

    async def _sources(self, base: UUID) -> list[dict[str, Any]]:
        return await asyncio.to_thread(lambda: list(self._client.pages(f"/v1/knowledge-bases/{base}/sources")))


def _wish(document: Document, organization: UUID, base: UUID) -> SourceSubmitted:
    shared: dict[str, Any] = {
        "organization_id": organization,
        "knowledge_base_id": base,
        "url": document.url,
        "title": document.title,
        "priority": "manual",
    }
    if document.body is None:
        return SourceSubmitted(kind="url", **shared)
    key = blob_key(organization, sha256(document.body).hexdigest())
    file = FileReference(blob_key=key, filename=document.filename or "document")
    return SourceSubmitted(kind="file", file=file, external_id=document.name, source_type="upload", **shared)


def _note(progress: Progress, name: str, source: dict[str, Any]) -> None:
    if source["status"] not in _DONE:
        return
    if source["status"] != "failed":
        progress.ready[name] = source
    elif source["error"]["code"] == Code.UNSUPPORTED_TYPE:
        progress.unsupported.add(name)
    else:
        progress.failed[name] = (source["error"]["code"], source["error"]["reason"] or "")
