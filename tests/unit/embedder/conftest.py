"""An encoder that answers as it is told to, and time that passes only while somebody sleeps."""

from __future__ import annotations

import asyncio
import struct
from collections import deque
from collections.abc import Callable, Sequence

import pytest

from services.encoder.encoder import Limits
from services.encoder.spaces import EmbeddingSpace


class ScriptedEncoder:
    """Vectors tell their text apart. `answers` are used up first: an error to raise, or None for an ordinary answer."""

    def __init__(self, limits: Limits) -> None:
        self.space = EmbeddingSpace("fake", "scripted", 1)
        self.limits = limits
        self.requests: list[list[str]] = []
        self.answers: deque[Exception | None] = deque()
        self.check: Callable[[Sequence[str]], None] = lambda texts: None
        self.gate = asyncio.Event()
        self.gate.set()
        self.running = self.most = 0

    async def embed_passages(self, texts: Sequence[str]) -> list[bytes]:
        self.requests.append(list(texts))
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(0)
            await self.gate.wait()
            if self.answers and (error := self.answers.popleft()) is not None:
                raise error
            self.check(texts)
            return [vector(text) for text in texts]
        finally:
            self.running -= 1

    async def embed_query(self, text: str) -> bytes:
        return vector(text)

    async def aclose(self) -> None:
        pass


def vector(text: str) -> bytes:
    return struct.pack("<f", hash(text) % 1_000_003 + 1)


class Time:
    """A clock that goes on only while somebody sleeps; it remembers for how long."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def encoder() -> ScriptedEncoder:
    return ScriptedEncoder(Limits(max_inputs=4, max_tokens_per_request=1_000, max_tokens_per_input=100, concurrency=2))
