"""The encoder against a provider over real HTTP, healthy and not."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import numpy as np
import pytest

from schemas.codes import Code
from services.embedder.embedding import EmbeddingRun, Patience
from services.embedder.pacing import Pacer
from services.encoder.errors import EncoderError, EncoderRefused, EncoderUnavailable, RequestTooLarge
from services.encoder.openai_compatible import OpenAICompatibleEncoder
from tests.support.provider import EmbeddingProvider, Fault, ServedLimits


@pytest.fixture
def provider() -> Iterator[EmbeddingProvider]:
    with EmbeddingProvider() as running:
        yield running


@asynccontextmanager
async def opened(provider: EmbeddingProvider, model: str = "text-embedding-3-small", **more: Any) -> AsyncIterator[Any]:
    encoder = OpenAICompatibleEncoder(model, base_url=provider.base_url, **more)
    yield encoder
    await encoder.aclose()


async def raised(provider: EmbeddingProvider, *faults: Fault, **more: Any) -> EncoderError:
    provider.fail(*faults)
    async with opened(provider, **more) as encoder:
        with pytest.raises(EncoderError) as caught:
            await encoder.embed_passages(["one", "two"])
    return caught.value


async def test_vectors_are_float32_bytes_and_similar_texts_are_near(provider: EmbeddingProvider) -> None:
    async with opened(provider) as encoder:
        raw = await encoder.embed_passages(["Reset your password", "password, reset", "apple trees"])
        query = await encoder.embed_query("how to reset a password")
    assert [len(vector) for vector in raw] == [4 * 1_536] * 3
    one, other, far = (np.frombuffer(vector, "<f4") for vector in raw)
    assert one @ other > 0.7 > 0.2 > one @ far
    assert np.frombuffer(query, "<f4") @ one > 0.4
    assert provider.stats.sizes == [3, 1]


async def test_nothing_is_sent_for_no_texts(provider: EmbeddingProvider) -> None:
    async with opened(provider) as encoder:
        assert await encoder.embed_passages([]) == []
    assert provider.stats.requests == 0


async def test_dimensions_are_asked_for_only_when_set(provider: EmbeddingProvider) -> None:
    async with opened(provider, "text-embedding-3-large", dimensions=256) as encoder:
        assert len(await encoder.embed_query("x")) == 4 * 256
    async with opened(provider, "text-embedding-ada-002") as encoder:
        assert len(await encoder.embed_query("x")) == 4 * 1_536


async def test_a_lone_surrogate_is_replaced(provider: EmbeddingProvider) -> None:
    async with opened(provider) as encoder:
        assert await encoder.embed_query("a \ud800") == await encoder.embed_query("a \ufffd")


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_busy_is_told_with_the_wait_and_sent_once(provider: EmbeddingProvider, status: int) -> None:
    error = await raised(provider, Fault("status", status=status, retry_after="3"))
    assert isinstance(error, EncoderUnavailable)
    assert error.retry_after == 3
    assert provider.stats.requests == 1


async def test_retry_after_can_be_a_date(provider: EmbeddingProvider) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    error = await raised(provider, Fault("status", status=429, retry_after=date))
    assert isinstance(error, EncoderUnavailable)
    assert error.retry_after == pytest.approx(90, abs=5)


@pytest.mark.parametrize("kind", ["hang", "drip"])
async def test_an_answer_that_does_not_end_is_given_up(provider: EmbeddingProvider, kind: Any) -> None:
    begin = time.monotonic()
    error = await raised(provider, Fault(kind), timeout=0.4)
    assert isinstance(error, EncoderUnavailable)
    assert time.monotonic() - begin < 3


@pytest.mark.parametrize("kind", ["drop", "garbage"])
async def test_a_broken_answer_counts_as_away(provider: EmbeddingProvider, kind: Any) -> None:
    assert isinstance(await raised(provider, Fault(kind)), EncoderUnavailable)


async def test_nobody_there_counts_as_away() -> None:
    with EmbeddingProvider() as gone:
        pass
    assert isinstance(await raised(gone), EncoderUnavailable)


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("dimensions", Code.WRONG_DIMENSIONS),
        ("zeros", Code.BAD_VECTOR),
        ("nan", Code.BAD_VECTOR),
        ("count", Code.PROVIDER_REFUSED),
    ],
)
async def test_unusable_vectors_are_refused(provider: EmbeddingProvider, kind: Any, code: Code) -> None:
    error = await raised(provider, Fault(kind, position=1))
    assert isinstance(error, EncoderRefused)
    assert error.code == code


async def test_a_bad_key_is_refused() -> None:
    with EmbeddingProvider(api_key="right") as provider:
        error = await raised(provider, api_key="wrong")
        async with opened(provider, api_key="right") as encoder:
            await encoder.embed_query("x")
    assert isinstance(error, EncoderRefused)
    assert (error.code, error.by_input) == (Code.PROVIDER_REFUSED, False)


async def test_an_unknown_model_is_unavailable(provider: EmbeddingProvider) -> None:
    provider.fail(Fault("status", status=404, code="model_not_found"))
    error = await raised(provider)
    assert isinstance(error, EncoderRefused)
    assert error.code == Code.MODEL_UNAVAILABLE


@pytest.mark.parametrize(
    "texts", [["x"] * 2_049, ["word " * 4_000] * 61, ["漢字 " * 6_000]], ids=["inputs", "tokens", "one input"]
)
async def test_the_providers_own_limits_are_too_large(provider: EmbeddingProvider, texts: list[str]) -> None:
    async with opened(provider) as encoder:
        with pytest.raises(RequestTooLarge):
            await encoder.embed_passages(texts)


async def test_a_run_survives_what_goes_wrong_on_the_way() -> None:
    """A smaller limit than planned for, a 429, a 500 and a broken connection: every vector, each text answered once."""
    texts = [f"text number {number}" for number in range(100)]
    with EmbeddingProvider(limits=ServedLimits(max_inputs=30)) as provider:
        async with opened(provider) as encoder:
            expected = [await encoder.embed_query(text) for text in texts]
            before = provider.stats.inputs
            provider.fail(Fault("status", status=429, retry_after="0.05"), Fault("status"), Fault("drop"))
            run = EmbeddingRun(encoder, Pacer(), Patience(total=20, first=0.01, longest=0.1))
            assert await run.embed(texts, [4] * 100) == expected
        assert provider.stats.inputs - before == 100
        assert provider.stats.sizes[-4:] == [25, 25, 25, 25]
