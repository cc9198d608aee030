"""Retries, splitting and bounded concurrency around one encoder."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from schemas.codes import Code
from services.embedder.embedding import EmbeddingInterrupted, EmbeddingRun, Patience
from services.embedder.pacing import Pacer
from services.encoder.errors import EncoderRefused, EncoderUnavailable, RequestTooLarge

TEXTS = [f"text {number}" for number in range(10)]
COUNTS = [2] * 10


@pytest.fixture
def run(encoder: Any, time: Any) -> EmbeddingRun:
    pacer = Pacer(clock=time.clock, sleep=time.sleep)
    return EmbeddingRun(encoder, pacer, Patience(total=60, first=1, longest=8), clock=time.clock)


async def expected(encoder: Any) -> list[bytes]:
    return [await encoder.embed_query(text) for text in TEXTS]


async def test_vectors_come_in_the_order_of_the_texts(run: EmbeddingRun, encoder: Any) -> None:
    assert await run.embed(TEXTS, COUNTS) == await expected(encoder)
    assert sorted(map(len, encoder.requests)) == [2, 4, 4]
    assert await run.embed([], []) == []


async def test_no_more_requests_run_than_the_encoder_allows(run: EmbeddingRun, encoder: Any) -> None:
    await asyncio.gather(*(run.embed(TEXTS, COUNTS) for _ in range(5)))
    assert encoder.most == 2


async def test_only_what_is_not_finished_is_sent_again(run: EmbeddingRun, encoder: Any, time: Any) -> None:
    encoder.answers.extend([None, EncoderUnavailable("busy", 7)])
    assert await run.embed(TEXTS, COUNTS) == await expected(encoder)
    assert sorted(map(len, encoder.requests)) == [2, 4, 4, 4]
    assert encoder.requests.count(TEXTS[4:8]) == 2
    assert time.now == 7


async def test_backoff_doubles_up_to_its_cap_when_nothing_is_asked(run: EmbeddingRun, encoder: Any, time: Any) -> None:
    encoder.answers.extend([EncoderUnavailable("down")] * 6)
    await run.embed(TEXTS[:1], [2])
    for slept, most in zip(time.slept, [1, 2, 4, 8, 8, 8], strict=True):
        assert most / 2 <= slept <= most


async def test_patience_has_an_end_and_keeps_what_is_finished(run: EmbeddingRun, encoder: Any, time: Any) -> None:
    encoder.answers.extend([None, None, *[EncoderUnavailable("down", 25)] * 9])
    with pytest.raises(EmbeddingInterrupted, match="down") as interrupted:
        await run.embed(TEXTS, COUNTS)
    assert interrupted.value.retry_after == 25
    whole = await expected(encoder)
    assert interrupted.value.vectors == [*whole[:8], None, None]
    assert len(encoder.requests) == 5
    assert time.now <= 60


async def test_a_wait_beyond_patience_is_handed_on_at_once(run: EmbeddingRun, encoder: Any, time: Any) -> None:
    encoder.answers.append(EncoderUnavailable("come back tomorrow", 86_400))
    with pytest.raises(EncoderUnavailable) as away:
        await run.embed(TEXTS[:1], [2])
    assert away.value.retry_after == 86_400
    assert time.now == 0


async def test_a_zero_wait_does_not_become_a_tight_loop(run: EmbeddingRun, encoder: Any, time: Any) -> None:
    encoder.answers.extend([EncoderUnavailable("busy", 0)] * 3)
    await run.embed(TEXTS[:1], [2])
    assert time.now == 3


async def test_a_request_that_is_too_large_goes_in_halves(run: EmbeddingRun, encoder: Any) -> None:
    def at_most_one(texts: list[str]) -> None:
        if len(texts) > 1:
            raise RequestTooLarge("too many tokens")

    encoder.check = at_most_one
    assert await run.embed(TEXTS, COUNTS) == await expected(encoder)
    assert [request for request in encoder.requests if len(request) == 1] != []


async def test_a_single_text_that_is_too_large_is_refused(run: EmbeddingRun, encoder: Any) -> None:
    def no_seven(texts: list[str]) -> None:
        if "text 7" in texts:
            raise RequestTooLarge("too long")

    encoder.check = no_seven
    with pytest.raises(EncoderRefused) as refused:
        await run.embed(TEXTS, COUNTS)
    assert refused.value.code == Code.INPUT_TOO_LONG
    assert refused.value.by_input


async def test_what_is_refused_is_not_sent_again(run: EmbeddingRun, encoder: Any, time: Any) -> None:
    encoder.answers.append(EncoderRefused(Code.PROVIDER_REFUSED, "bad key"))
    with pytest.raises(EncoderRefused, match="bad key"):
        await run.embed(TEXTS[:1], [2])
    assert len(encoder.requests) == 1
    assert time.now == 0


async def test_tokens_are_paced_by_what_the_provider_may_count(encoder: Any, time: Any) -> None:
    run = EmbeddingRun(encoder, Pacer(None, 100, clock=time.clock, sleep=time.sleep), clock=time.clock)
    await run.embed(["漢" * 80] * 2, [1, 1])
    assert time.now == 0
    await run.embed(["a"], [1])
    assert time.now == 60


async def test_another_error_comes_through_as_it_is(run: EmbeddingRun, encoder: Any) -> None:
    encoder.answers.append(ZeroDivisionError("a bug"))
    with pytest.raises(ZeroDivisionError, match="a bug"):
        await run.embed(TEXTS, COUNTS)


async def test_a_cancelled_call_frees_its_place(run: EmbeddingRun, encoder: Any) -> None:
    encoder.gate.clear()
    call = asyncio.create_task(run.embed(TEXTS, COUNTS))
    while encoder.running < 2:
        await asyncio.sleep(0)
    call.cancel()
    await asyncio.wait([call])
    encoder.gate.set()
    assert await run.embed(TEXTS, COUNTS) == await expected(encoder)
