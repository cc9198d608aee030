"""The stages of the pipeline as objects in one process, on a real database, with fakes where the world begins."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from schemas.events import (
    SourceChunked,
    SourceDue,
    SourceEmbedded,
    SourceFetched,
    SourceMetadataChanged,
    SourceRefreshRequested,
    SourceRemovalDue,
    SourceRemoved,
    SourceRetitled,
    SourceSubmitted,
)
from schemas.identifiers import content_hash
from services.chassis.blobs import BlobStore
from services.chassis.delivery import Received
from services.chassis.postgres import Postgres
from services.chassis.settings import BlobSettings
from services.chunker.blocks import Locator
from services.chunker.chunking import Chunk
from services.chunker.job import ChunkedDocument
from services.chunker.stage import Chunking
from services.embedder.stage import Embedding
from services.embedder.store import VectorStore
from services.encoder.spaces import EmbeddingSpace
from services.fetcher.dispatching import Announcer, Dispatcher
from services.fetcher.fetching import Fetching
from services.fetcher.intake import Intake
from services.fetcher.settings import DispatchSettings, IntakeSettings
from services.indexer.cutover import CutOver
from services.indexer.indexing import Indexing
from services.indexer.spaces import Spaces
from services.ledger import Ledger, Stage
from services.ledger.settings import LedgerSettings
from tests.support.transport import RecordingPublisher, received

SPACE = EmbeddingSpace("openai", "text-embedding-3-small", 8)


class ParagraphPool:
    """Cuts a text at its blank lines: each paragraph is a chunk of as many tokens as it has words."""

    async def parse_and_chunk(self, body: bytes, **_: Any) -> ChunkedDocument:
        text = body.decode()
        chunks, start = [], 0
        for order, paragraph in enumerate(text.split("\n\n") if text else ()):
            end = start + len(paragraph)
            digest = content_hash(paragraph)
            tokens = max(1, len(paragraph.split()))
            chunks.append(Chunk(order, paragraph, tokens, ("Part",), Locator(), start, end, digest))
            start = end + 2
        return ChunkedDocument(None, "text/plain", "utf-8", "en", text, [], chunks)


class HashModel:
    """A vector is made of the last line of its text alone. Knows what it was asked for."""

    def __init__(self, dimensions: int = SPACE.dimensions) -> None:
        self.dimensions = dimensions
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str], token_counts: Sequence[int]) -> list[bytes]:
        self.asked += texts
        return [self.vector(text.rpartition("\n")[2]) for text in texts]

    def vector(self, text: str) -> bytes:
        seed = int.from_bytes(sha256(text.encode()).digest()[:8])
        numbers = np.random.default_rng(seed).normal(size=self.dimensions)
        return (numbers / np.linalg.norm(numbers)).astype("<f4").tobytes()


class NoPages:
    """No page is there."""

    async def fetch(self, url: str, **_: Any) -> Any:
        raise AssertionError(f"{url} was fetched")


class Rooms:
    """All stages, and where their messages go."""

    def __init__(
        self,
        postgres: Postgres,
        *,
        ledger: LedgerSettings | None = None,
        dispatch: DispatchSettings | None = None,
        space: EmbeddingSpace | None = SPACE,
        blobs: BlobStore | None = None,
    ) -> None:
        self.postgres = postgres
        self.publisher: Any = RecordingPublisher()
        self.blobs = blobs or BlobStore(BlobSettings(url="memory://"))
        self.settings = ledger or LedgerSettings(lapses=1000)
        self.model = HashModel(space.dimensions) if space else None
        pool: Any = ParagraphPool()
        self.intake = Intake(postgres, self.blobs, self.publisher, IntakeSettings())
        self.ledgers = {name: Ledger(postgres, self.settings, name) for name in _STAGES}
        self.dispatcher = Dispatcher(
            postgres, self.publisher, self.ledgers["fetching"], dispatch or DispatchSettings(), self.settings
        )
        self.announcer = Announcer(postgres, self.publisher, 1.0)
        self.fetching = Fetching(postgres, self.blobs, self.publisher, NoPages())
        self.chunking = Chunking(self.blobs, self.publisher, pool, 200_000)
        self.store = VectorStore(postgres, space)
        self.embedding = Embedding(self.store, self.publisher, space, self.model)
        spaces = Spaces(postgres)
        self.cut_over = CutOver(postgres, spaces)
        self.indexing = Indexing(postgres, spaces, self.cut_over)

    async def deliver(self, event: Any, **attributes: Any) -> None:
        """Hand the event to the stage that its topic leads to."""
        await self.handle(event if isinstance(event, Received) else received(event, **attributes))

    async def handle(self, message: Received[Any]) -> None:
        """What the services' handlers do."""
        match message.event:
            case SourceSubmitted():
                await self.intake.submit(message)
            case SourceRefreshRequested():
                await self.intake.refresh(message)
            case SourceMetadataChanged():
                await self.intake.change_fields(message)
            case SourceRemoved():
                await self.intake.remove(message)
            case SourceDue() as due:
                await self._stage("fetching").run(due, self.fetching.fetch)
            case SourceFetched() as fetched:
                await self._stage("chunking").run(fetched, self.chunking.chunk)
            case SourceChunked() as chunked:
                await self._stage("embedding").run(chunked, self.embedding.embed)
            case SourceEmbedded() as embedded:
                await self._stage("indexing").run(embedded, lambda _: self.indexing.index(message))
            case SourceRemovalDue() as removal:
                await self.indexing.remove(removal)
            case SourceRetitled() as retitled:
                await self.indexing.retitle(retitled)
            case _:
                raise AssertionError(f"nobody reads {message.event.type}")

    def _stage(self, name: str) -> Stage:
        return Stage(self.ledgers[name])  # type: ignore[index]

    async def settle(self, turns: int = 1000) -> None:
        """Give out and deliver until nothing is left."""
        for _ in range(turns):
            await self.dispatcher.turn()
            if not self.publisher.waiting:
                return
            while self.publisher.waiting:
                await self.deliver(self.publisher.take(self.publisher.waiting[0]).event)
        raise AssertionError("work did not come to an end")


_STAGES: Any = ("fetching", "chunking", "embedding", "indexing")
