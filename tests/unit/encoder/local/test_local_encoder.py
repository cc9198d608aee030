"""Threads, order and errors of the encoder around a local model."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import numpy as np
import pytest

from schemas.codes import Code
from services.encoder.errors import EncoderRefused
from services.encoder.local.encoder import LocalEncoder
from services.encoder.spaces import EmbeddingSpace

SPACE = EmbeddingSpace("local", "fake", 2, query_prefix="q:", passage_prefix="p:")


class FakeModel:
    """Calls back with the text, and remembers how many ran side by side."""

    def __init__(self, embed: Callable[[str], bytes]) -> None:
        self._embed = embed
        self._lock = threading.Lock()
        self.running = self.most = 0

    def embed(self, text: str) -> bytes:
        with self._lock:
            self.running += 1
            self.most = max(self.most, self.running)
        try:
            return self._embed(text)
        finally:
            with self._lock:
                self.running -= 1


def vector(text: str) -> bytes:
    return np.array([len(text), 1], "<f4").tobytes()


@asynccontextmanager
async def opened(model: FakeModel, threads: int = 2) -> AsyncIterator[LocalEncoder]:
    encoder = LocalEncoder(SPACE, model, threads)
    yield encoder
    await encoder.aclose()


async def test_prefixes_and_order() -> None:
    async with opened(FakeModel(vector)) as encoder:
        assert await encoder.embed_passages(["a", "bbb", "cc"]) == [vector("p:a"), vector("p:bbb"), vector("p:cc")]
        assert await encoder.embed_query("dddd") == vector("q:dddd")
        assert await encoder.embed_passages([]) == []


async def test_so_many_passages_run_side_by_side_and_the_loop_is_free() -> None:
    model = FakeModel(lambda text: (time.sleep(0.05), vector(text))[1])
    async with opened(model, threads=2) as encoder:
        work = asyncio.create_task(encoder.embed_passages(["x"] * 8))
        ticks = 0
        while not work.done():
            await asyncio.sleep(0.005)
            ticks += 1
        assert model.most == 2
        assert ticks > 10


async def test_a_query_does_not_wait_behind_passages() -> None:
    release = threading.Event()

    def embed(text: str) -> bytes:
        if text.startswith("p:"):
            release.wait(10)
        return vector(text)

    async with opened(FakeModel(embed), threads=1) as encoder:
        work = asyncio.create_task(encoder.embed_passages(["x"] * 20))
        await asyncio.sleep(0.02)
        async with asyncio.timeout(5):
            await encoder.embed_query("now")
        assert not work.done()
        release.set()
        await work


async def test_a_model_that_fails_is_an_encoder_error() -> None:
    def broken(text: str) -> bytes:
        raise MemoryError("no room")

    async with opened(FakeModel(broken)) as encoder:
        with pytest.raises(EncoderRefused, match="no room"):
            await encoder.embed_query("x")


async def test_bad_vectors_do_not_pass() -> None:
    async with opened(FakeModel(lambda _: np.zeros(2, "<f4").tobytes())) as encoder:
        with pytest.raises(EncoderRefused) as refused:
            await encoder.embed_passages(["x"])
        assert refused.value.code == Code.BAD_VECTOR


async def test_a_lone_surrogate_is_replaced() -> None:
    def strict(text: str) -> bytes:
        return vector(text.encode().decode())

    async with opened(FakeModel(strict)) as encoder:
        assert await encoder.embed_query("a\ud800") == vector("q:a\ufffd")
