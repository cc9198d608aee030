"""Gives the chunks of a batch their vectors."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Protocol

from schemas.codes import Code
from schemas.events import Chunk, SourceChunked, SourceEmbedded
from services.chassis import metrics
from services.chassis.broker import Publisher
from services.chassis.errors import DependencyDown, KnowledgeBaseError, RetryLater, SourceRefused
from services.embedder.store import Usage, VectorStore
from services.encoder.errors import EncoderRefused, EncoderUnavailable
from services.encoder.prices import dollars_per_million_tokens
from services.encoder.spaces import EmbeddingSpace
from services.encoder.tokens import count_tokens


class Embed(Protocol):
    """Turns texts into vectors of little-endian float32, in order. `token_counts` are of cl100k."""

    async def embed(self, texts: Sequence[str], token_counts: Sequence[int]) -> list[bytes]:
        """Raises the errors of `services.encoder.errors`."""
        ...


class Embedding:
    """The stage: reuse what is there, embed the rest, note the cost, pass on."""

    def __init__(
        self, store: VectorStore, publisher: Publisher, space: EmbeddingSpace | None, model: Embed | None
    ) -> None:
        """Without a model chunks go on without vectors."""
        self._store = store
        self._publisher = publisher
        self._space = space
        self._model = model

    async def embed(self, event: SourceChunked) -> None:
        """Publish the batch with its vectors. Raises SourceRefused, RetryLater, DependencyDown."""
        vectors = await self._vectors(event) if self._model is not None else ()
        await self._publisher.publish(
            SourceEmbedded(
                **{name: getattr(event, name) for name in SourceChunked.model_fields},
                space=self._space.name if self._space else None,
                dimensions=self._space.dimensions if self._space else None,
                vectors=tuple(vectors),
            )
        )

    async def _vectors(self, event: SourceChunked) -> list[str]:
        vectors = await self._store.known(event)
        reused = sum(chunk.content_hash in vectors for chunk in event.chunks)
        new = list({c.content_hash: c for c in event.chunks if c.content_hash not in vectors}.values())
        prefix = prefix_of(event)
        ahead = count_tokens(prefix) if prefix else 0
        # Counts of parts differ from the count of the whole by a token at the seam, which a bill does not show.
        counts = [ahead + chunk.token_count for chunk in new]
        vectors |= await self._ask(prefix, new, counts)
        await self._store.meter(Usage(event, len(new), reused, sum(counts), self._cost(sum(counts))))
        self._count(len(new), reused, sum(counts))
        return [vectors[chunk.content_hash] for chunk in event.chunks]

    async def _ask(self, prefix: str, chunks: Sequence[Chunk], counts: Sequence[int]) -> dict[str, str]:
        if not chunks or self._model is None:
            return {}
        try:
            given = await self._model.embed([prefix + chunk.text for chunk in chunks], counts)
        except EncoderUnavailable as error:
            raise DependencyDown(Code.PROVIDER_DOWN, error.reason, error.retry_after) from error
        except EncoderRefused as error:
            raise _meaning(error) from error
        return {
            chunk.content_hash: base64.b64encode(vector).decode() for chunk, vector in zip(chunks, given, strict=True)
        }

    def _cost(self, tokens: int) -> int:
        price = dollars_per_million_tokens(self._space) if self._space else 0.0
        return round(tokens * (price or 0.0))

    def _count(self, new: int, reused: int, tokens: int) -> None:
        name = self._space.name if self._space else "none"
        metrics.CHUNKS.labels("embedded").inc(new)
        metrics.CHUNKS.labels("reused").inc(reused)
        metrics.EMBEDDING_TOKENS.labels(name).inc(tokens)
        metrics.EMBEDDING_COST.labels(name).inc(self._cost(tokens) / 1e6)


def prefix_of(event: SourceChunked) -> str:
    """What stands in front of each chunk when it is embedded: title and description."""
    parts = [part for part in (event.title or event.document_title, event.description) if part]
    return " — ".join(parts) + "\n" if parts else ""


def _meaning(error: EncoderRefused) -> KnowledgeBaseError:
    if error.code in (Code.WRONG_DIMENSIONS, Code.BAD_VECTOR):
        return RetryLater(error.code, error.reason)
    if error.by_input:
        return SourceRefused(error.code, error.reason)
    # A key or a model that is not accepted is not accepted for any source: better to wait than to fail them all.
    return DependencyDown(error.code, error.reason)
