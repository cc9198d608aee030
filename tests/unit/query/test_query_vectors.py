from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from schemas.codes import Code
from services.encoder.encoder import Limits
from services.encoder.errors import EncoderError, EncoderRefused, EncoderUnavailable, RequestTooLarge
from services.encoder.spaces import EmbeddingSpace
from services.query.query_vectors import NoVector, QueryVector, QueryVectors
from services.query.settings import SearchSettings


class SlowEncoder:
    """Gives the vector (3, 4), after a delay or not at all."""

    space = EmbeddingSpace("test", "slow", 2)
    limits = Limits()

    def __init__(self, delay: float = 0.0, error: EncoderError | None = None) -> None:
        self.delay, self.error = delay, error
        self.calls = self.running = self.most = 0

    async def embed_passages(self, texts: Sequence[str]) -> list[bytes]:
        raise NotImplementedError

    async def embed_query(self, text: str) -> bytes:
        self.calls += 1
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(self.delay)
        finally:
            self.running -= 1
        if self.error:
            raise self.error
        return np.array([3, 4], "<f4").tobytes()

    async def aclose(self) -> None:
        pass


async def test_vectors_are_scaled_and_kept() -> None:
    encoder = SlowEncoder()
    vectors = QueryVectors(encoder, SearchSettings())
    assert await vectors.of("abc") == await vectors.of("abc") == QueryVector("test/slow@2", "[0.6,0.8]")
    assert encoder.calls == 1


async def test_the_oldest_vector_goes() -> None:
    encoder = SlowEncoder()
    vectors = QueryVectors(encoder, SearchSettings(cached_vectors=2))
    for query in ("a", "b", "a", "c", "a", "b"):
        await vectors.of(query)
    assert encoder.calls == 4


async def test_the_model_has_few_queries_at_a_time() -> None:
    encoder = SlowEncoder(0.01)
    vectors = QueryVectors(encoder, SearchSettings(model_concurrency=2))
    await asyncio.gather(*(vectors.of(str(number)) for number in range(8)))
    assert (encoder.calls, encoder.most) == (8, 2)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (EncoderUnavailable("host 10.0.0.1 is away"), Code.PROVIDER_DOWN),
        (EncoderRefused(Code.PROVIDER_REFUSED, "wrong key"), Code.PROVIDER_REFUSED),
        (RequestTooLarge("too long"), Code.PROVIDER_DOWN),
    ],
)
async def test_errors_leave_the_query_without_a_vector(error: EncoderError, code: Code) -> None:
    found = await QueryVectors(SlowEncoder(error=error), SearchSettings()).of("abc")
    assert isinstance(found, NoVector)
    assert found.code is code
    assert "10.0.0.1" not in found.reason


@pytest.mark.parametrize("raw", [bytes(8), np.array([np.nan, 1], "<f4").tobytes()])
async def test_a_vector_that_is_near_to_nothing(monkeypatch: pytest.MonkeyPatch, raw: bytes) -> None:
    async def bad(*_: object) -> bytes:
        return raw

    monkeypatch.setattr(SlowEncoder, "embed_query", bad)
    found = await QueryVectors(SlowEncoder(), SearchSettings()).of("abc")
    assert isinstance(found, NoVector)
    assert found.code is Code.BAD_VECTOR


async def test_a_slow_model_is_not_waited_for_and_left_alone_for_a_while() -> None:
    encoder = SlowEncoder(30)
    vectors = QueryVectors(encoder, SearchSettings(model_timeout=0.01, model_pause=60))
    for query in ("abc", "def", "ghi"):
        assert await vectors.of(query) == NoVector(Code.PROVIDER_DOWN, "The model provider does not answer.")
    assert encoder.calls == 1


async def test_without_an_encoder() -> None:
    assert (await QueryVectors(None, SearchSettings()).of("abc")) == NoVector(
        Code.W001, "No embedding model is set up: only keywords are searched."
    )
    missing = NoVector(Code.MODEL_UNAVAILABLE, "install it")
    assert await QueryVectors(None, SearchSettings(), missing).of("abc") == missing
