"""Small calls share requests, wait for nobody when idle, and pay only for their own faults."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from schemas.codes import Code
from services.embedder.embedding import EmbeddingInterrupted, EmbeddingRun, Patience
from services.embedder.pacing import Pacer
from services.embedder.sharing import SharedEmbedding
from services.encoder.encoder import Limits
from services.encoder.errors import EncoderRefused, EncoderUnavailable


@pytest.fixture
def shared(encoder: Any, time: Any) -> SharedEmbedding:
    encoder.limits = Limits(max_inputs=64, max_tokens_per_request=10_000, max_tokens_per_input=100, concurrency=2)
    pacer = Pacer(clock=time.clock, sleep=time.sleep)
    return SharedEmbedding(EmbeddingRun(encoder, pacer, Patience(total=30, first=1), clock=time.clock))


async def calls_behind_a_closed_gate(shared: SharedEmbedding, encoder: Any, count: int) -> list[asyncio.Task[Any]]:
    """One call whose request runs, and more that came meanwhile; the gate is open again."""
    encoder.gate.clear()
    first = asyncio.create_task(shared.embed(["first"], [1]))
    while not encoder.running:
        await asyncio.sleep(0)
    others = [asyncio.create_task(shared.embed([f"text {number}"], [2])) for number in range(count)]
    await asyncio.sleep(0)
    encoder.gate.set()
    return [first, *others]


async def test_a_call_goes_at_once_when_nothing_runs(shared: SharedEmbedding, encoder: Any, time: Any) -> None:
    assert await shared.embed(["a", "b"], [1, 1]) == [await encoder.embed_query(text) for text in "ab"]
    assert encoder.requests == [["a", "b"]]
    assert time.now == 0


async def test_calls_that_come_while_a_request_runs_share_the_next(shared: SharedEmbedding, encoder: Any) -> None:
    calls = await calls_behind_a_closed_gate(shared, encoder, 20)
    answers = await asyncio.gather(*calls)
    assert answers[1:] == [[await encoder.embed_query(f"text {number}")] for number in range(20)]
    assert list(map(len, encoder.requests)) == [1, 20]


async def test_shared_requests_keep_to_the_limits(shared: SharedEmbedding, encoder: Any) -> None:
    calls = await calls_behind_a_closed_gate(shared, encoder, 150)
    await asyncio.gather(*calls)
    assert sorted(map(len, encoder.requests)) == [1, 22, 64, 64]


async def test_a_large_call_waits_for_nobody(shared: SharedEmbedding, encoder: Any) -> None:
    encoder.gate.clear()
    small = asyncio.create_task(shared.embed(["first"], [1]))
    large = asyncio.create_task(shared.embed(["x"] * 10, [1] * 10))
    while encoder.running < 2:
        await asyncio.sleep(0)
    encoder.gate.set()
    await asyncio.gather(small, large)


@pytest.mark.parametrize("bad", [0, 7, 12])
async def test_only_the_owner_of_a_bad_text_fails(shared: SharedEmbedding, encoder: Any, bad: int) -> None:
    def check(texts: list[str]) -> None:
        if f"text {bad}" in texts:
            raise EncoderRefused(Code.BAD_VECTOR, "zeros", by_input=True)

    encoder.check = check
    calls = await calls_behind_a_closed_gate(shared, encoder, 13)
    answers = await asyncio.gather(*calls, return_exceptions=True)
    failed = [number for number, answer in enumerate(answers[1:]) if isinstance(answer, EncoderRefused)]
    assert failed == [bad]
    assert answers[1:][bad - 1] == [await encoder.embed_query(f"text {(bad - 1) % 13}")]


async def test_a_text_that_is_too_long_fails_its_owner_alone(shared: SharedEmbedding, encoder: Any) -> None:
    encoder.gate.clear()
    calls = [asyncio.create_task(shared.embed([text], [tokens])) for text, tokens in (("a", 1), ("b", 101), ("c", 1))]
    await asyncio.sleep(0)
    encoder.gate.set()
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert isinstance(answers[1], EncoderRefused)
    assert answers[1].code == Code.INPUT_TOO_LONG
    assert [answers[0], answers[2]] == [[await encoder.embed_query("a")], [await encoder.embed_query("c")]]
    assert ["b"] not in encoder.requests


async def test_a_bad_key_fails_all_with_one_request(shared: SharedEmbedding, encoder: Any) -> None:
    calls = await calls_behind_a_closed_gate(shared, encoder, 9)
    encoder.answers.extend([None, EncoderRefused(Code.PROVIDER_REFUSED, "bad key")])
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(answer) for answer in answers[1:]] == [EncoderRefused] * 9
    assert len(encoder.requests) == 2


async def test_when_patience_ends_those_that_are_finished_are_answered(shared: SharedEmbedding, encoder: Any) -> None:
    encoder.limits = Limits(max_inputs=64, max_tokens_per_request=20, max_tokens_per_input=100, concurrency=1)
    run = shared._run
    run._slots = asyncio.Semaphore(1)
    encoder.gate.clear()
    calls = [asyncio.create_task(shared.embed([f"text {n}", f"more {n}"], [0, 0])) for n in range(12)]
    await asyncio.sleep(0)
    encoder.answers.extend([None, EncoderUnavailable("down", 100)])
    encoder.gate.set()
    answers = await asyncio.gather(*calls, return_exceptions=True)
    done = [answer for answer in answers if isinstance(answer, list)]
    assert done == [[await encoder.embed_query(f"{word} {n}") for word in ("text", "more")] for n in range(len(done))]
    assert 0 < len(done) < 12
    rest = answers[len(done) :]
    assert all(isinstance(answer, EmbeddingInterrupted) and answer.retry_after == 100 for answer in rest)
    assert all(len(answer.vectors) == 2 for answer in rest)


async def test_a_cancelled_call_does_not_disturb_the_others(shared: SharedEmbedding, encoder: Any) -> None:
    calls = await calls_behind_a_closed_gate(shared, encoder, 5)
    calls[2].cancel()
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert [isinstance(answer, list) for answer in answers] == [True, True, False, True, True, True]
    assert "text 1" not in encoder.requests[1]


async def test_an_unexpected_error_reaches_the_callers_and_the_next_call_works(
    shared: SharedEmbedding, encoder: Any
) -> None:
    encoder.answers.append(ZeroDivisionError("a bug"))
    with pytest.raises(ZeroDivisionError):
        await shared.embed(["a"], [1])
    assert await shared.embed(["a"], [1]) == [await encoder.embed_query("a")]


async def test_closing_cancels_who_waits(shared: SharedEmbedding, encoder: Any) -> None:
    calls = await calls_behind_a_closed_gate(shared, encoder, 3)
    encoder.gate.clear()
    await shared.aclose()
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(answer) for answer in answers] == [asyncio.CancelledError] * 4
