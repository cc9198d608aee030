"""An encoder whose model runs in threads of this process, so that the event loop is free meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from schemas.codes import Code
from services.encoder.encoder import Limits
from services.encoder.errors import EncoderRefused
from services.encoder.spaces import EmbeddingSpace
from services.encoder.tokens import without_surrogates
from services.encoder.vectors import checked

LIMITS = Limits(max_inputs=64, max_tokens_per_request=1_000_000_000, max_tokens_per_input=1_000_000_000, concurrency=1)
"""A model here takes any length and cuts it. Requests are small, so that what is done is kept after seconds."""


class Model(Protocol):
    """One text in, one vector of length 1 out; called from several threads."""

    def embed(self, text: str) -> bytes:
        """Little-endian float32 bytes."""
        ...


class LocalEncoder:
    """Each text is a run of its own on one thread; `threads` passages run side by side, and a query beside them."""

    limits = LIMITS

    def __init__(self, space: EmbeddingSpace, model: Model, threads: int) -> None:
        self.space = space
        self._model = model
        self._passages = asyncio.Semaphore(threads)
        # One thread more than passages may take: a query never waits behind a batch.
        self._threads = ThreadPoolExecutor(threads + 1, thread_name_prefix="encoder")

    async def embed_passages(self, texts: Sequence[str]) -> list[bytes]:
        """The vectors of passages, in order."""
        vectors = await asyncio.gather(*(self._embed_passage(text) for text in texts))
        checked(vectors, self.space.dimensions)
        return vectors

    async def embed_query(self, text: str) -> bytes:
        """The vector of a query."""
        vector = await self._embed(self.space.query_prefix + text)
        checked([vector], self.space.dimensions)
        return vector

    async def aclose(self) -> None:
        """End the threads. What runs is finished, what waits is dropped."""
        await asyncio.to_thread(self._threads.shutdown, cancel_futures=True)

    async def _embed_passage(self, text: str) -> bytes:
        async with self._passages:
            return await self._embed(self.space.passage_prefix + text)

    async def _embed(self, text: str) -> bytes:
        try:
            return await asyncio.get_running_loop().run_in_executor(
                self._threads, self._model.embed, without_surrogates(text)
            )
        except Exception as error:  # The runtimes raise classes of their own, right below Exception.
            raise EncoderRefused(Code.PROVIDER_REFUSED, f"the model failed: {error}", by_input=True) from error
