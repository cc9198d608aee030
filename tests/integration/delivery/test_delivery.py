"""What becomes of messages, on both brokers."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any
from uuid import UUID, uuid4

import pytest
from aiokafka import ConsumerRecord

from schemas.codes import Code
from schemas.events import SourceDue
from schemas.topics import DUE
from services.chassis.broker import Publisher
from services.chassis.delivery import Received, TooManyDeadLetters
from services.chassis.delivery.dead_letters import ORIGIN, DeadLetters
from services.chassis.errors import DependencyDown, EventRefused
from tests.integration.delivery.conftest import Bench
from tests.support.messages import headers_of, producer
from tests.support.processes import eventually_async

ORGANIZATION = uuid4()
POISON = ConsumerRecord("t", 0, 0, 0, 0, None, b"x", None, 0, 1, [])


def due(source: UUID | None = None, revision: int = 1) -> SourceDue:
    return SourceDue(
        organization_id=ORGANIZATION,
        source_id=source or uuid4(),
        revision=revision,
        knowledge_base_id=uuid4(),
        kind="text",
    )


async def all_committed(bench: Bench, count: int) -> None:
    async def done() -> bool:
        return await bench.committed() == count

    await eventually_async(done, 15)


async def test_what_is_handled_is_committed_and_what_comes_later_too(bench: Bench) -> None:
    seen: list[UUID] = []

    async def handle(received: Received[SourceDue]) -> None:
        seen.append(received.event.source_id)

    events = [due() for _ in range(30)]
    await bench.send(*events[:20])
    await bench.consume(handle)
    await all_committed(bench, 20)
    await bench.send(*events[20:])
    await all_committed(bench, 30)
    assert sorted(seen) == sorted(event.source_id for event in events)


async def test_messages_with_one_key_keep_their_order_and_others_run_side_by_side(bench: Bench) -> None:
    running: Counter[UUID] = Counter()
    most_of_one, most_of_all = 0, 0
    order: dict[UUID, list[int]] = {}

    async def handle(received: Received[SourceDue]) -> None:
        nonlocal most_of_one, most_of_all
        source = received.event.source_id
        running[source] += 1
        most_of_one = max(most_of_one, running[source])
        most_of_all = max(most_of_all, running.total())
        await asyncio.sleep(0.01)
        order.setdefault(source, []).append(received.event.revision)
        running[source] -= 1

    sources = [uuid4() for _ in range(8)]
    await bench.send(*(due(source, revision) for revision in range(5) for source in sources))
    await bench.consume(handle)
    await all_committed(bench, 40)
    assert all(revisions == [0, 1, 2, 3, 4] for revisions in order.values())
    assert most_of_one == 1
    assert most_of_all > 1


async def test_nothing_is_committed_past_a_message_that_is_not_done(bench: Bench) -> None:
    gate = asyncio.Event()
    slow = uuid4()
    done: list[UUID] = []

    async def handle(received: Received[SourceDue]) -> None:
        if received.event.source_id == slow:
            await gate.wait()
        done.append(received.event.source_id)

    await bench.send(due(slow), *(due() for _ in range(10)))
    await bench.consume(handle)

    async def others_done() -> bool:
        return len(done) == 10

    await eventually_async(others_done)
    # The slow one holds back its own partition only.
    assert await bench.committed() < 11
    gate.set()
    await all_committed(bench, 11)


async def test_a_dependency_that_is_down_pauses_in_place_and_consumes_no_attempt(bench: Bench) -> None:
    down = 6
    calls: Counter[UUID] = Counter()

    async def handle(received: Received[SourceDue]) -> None:
        nonlocal down
        calls[received.event.source_id] += 1
        if down:
            down -= 1
            raise DependencyDown(Code.POSTGRES_DOWN, "away")

    await bench.send(due(), due())
    running = await bench.consume(handle)
    await all_committed(bench, 2)
    assert calls.total() == 8, "six calls that found it down, and one for each message"
    assert not running.delivery.windows[0].pauser.paused
    assert await read_dead_letters_is_empty(bench)


async def read_dead_letters_is_empty(bench: Bench) -> bool:
    from tests.support.messages import read_all

    return await read_all(bench.kafka.bootstrap, bench.dead_letter_topic, 1, seconds=0.5) == []


async def test_a_refused_message_goes_aside_byte_for_byte_and_the_rest_flows(bench: Bench) -> None:
    seen: list[UUID] = []

    async def handle(received: Received[SourceDue]) -> None:
        seen.append(received.event.source_id)

    good = due()
    poison: list[tuple[bytes | None, list[tuple[str, Any]], Code]] = [
        (b'{"a":1}', [*headers_of(good), ("x", None)], Code.EVENT_UNREADABLE),
        (b'{"a":1}', [*headers_of(good), ("x", b"\xff\xfe")], Code.EVENT_UNREADABLE),
        (b'{"a":', headers_of(good), Code.EVENT_UNREADABLE),
        (b"\x00\xff" * 40, headers_of(good), Code.EVENT_UNREADABLE),
        (b'{"organization_id":"x"}', headers_of(good), Code.EVENT_INVALID),
        (b"{}", [("ce_type", b"kb.source.due.v9"), *headers_of(good)[:3]], Code.EVENT_UNKNOWN),
        (b"{}", [], Code.EVENT_UNREADABLE),
        (None, headers_of(good), Code.EVENT_UNREADABLE),
        (b"x" * 990_000, headers_of(good), Code.EVENT_UNREADABLE),
    ]
    async with producer(bench.kafka.bootstrap) as client:
        for value, headers, _ in poison:
            await client.send_and_wait(bench.topic, value, key=b"poison", headers=headers)
    await bench.send(good)
    await bench.consume(handle)
    await all_committed(bench, len(poison) + 1)
    assert seen == [good.source_id]
    aside = await bench.dead_letters(len(poison))
    for record, (value, headers, code) in zip(aside, poison, strict=True):
        assert record.value == value
        assert record.key == b"poison"
        assert list(record.headers[: len(headers)]) == headers
        origin = {name.removeprefix(ORIGIN): text.decode() for name, text in record.headers[len(headers) :]}
        assert origin["topic"] == bench.topic
        assert origin["code"] == code
        assert origin["offset"].isdigit()


async def test_a_message_without_key_and_value_goes_aside_too(bench: Bench) -> None:
    async def handle(received: Received[SourceDue]) -> None:
        pass

    async with producer(bench.kafka.bootstrap) as client:
        # A producer takes no such message: it comes in a batch that is put together by hand.
        batch = client.create_batch()
        batch.append(key=None, value=None, timestamp=None, headers=[])
        batch.close()
        await (await client.send_batch(batch, bench.topic, partition=0))
    await bench.send(due())
    await bench.consume(handle)
    await all_committed(bench, 2)
    (record,) = await bench.dead_letters(1)
    assert record.value == b""


async def test_a_dead_letter_that_the_broker_did_not_take_counts_once(bench: Bench) -> None:
    publisher = Publisher(bench.kafka, "/test")  # not open: whatever is sent fails
    letters = DeadLetters(publisher, DUE, "fetcher", bench.settings.model_copy(update={"dead_letter_floor": 2}))
    for _ in range(10):
        with pytest.raises(RuntimeError):
            await letters.put(POISON, Code.EVENT_INVALID, "no")


async def test_an_unexpected_error_is_tried_again_then_put_aside(bench: Bench) -> None:
    calls = 0

    async def handle(received: Received[SourceDue]) -> None:
        nonlocal calls
        calls += 1
        raise ZeroDivisionError("surprise")

    await bench.send(due())
    await bench.consume(handle)
    await all_committed(bench, 1)
    assert calls == 2
    (record,) = await bench.dead_letters(1)
    assert dict(record.headers)[ORIGIN + "code"] == b"HANDLER_FAILED"


async def test_a_stray_cancellation_is_an_error_of_its_message_and_the_loop_goes_on(bench: Bench) -> None:
    bad = uuid4()
    seen: list[UUID] = []

    async def handle(received: Received[SourceDue]) -> None:
        if received.event.source_id == bad:
            raise asyncio.CancelledError
        seen.append(received.event.source_id)

    await bench.send(due(bad), due(), due())
    running = await bench.consume(handle)
    await all_committed(bench, 3)
    assert len(seen) == 2
    assert running.delivery.loops_alive()


async def test_too_many_dead_letters_stop_the_consumer_and_commit_nothing_more(bench: Bench) -> None:
    async def handle(received: Received[SourceDue]) -> None:
        raise EventRefused(Code.EVENT_INVALID, "all of them")

    await bench.send(*(due() for _ in range(20)))
    running = await bench.consume(handle, dead_letter_floor=5, dead_letter_window=50, window=1)

    async def fatal() -> bool:
        return bool(running.fatal)

    await eventually_async(fatal)
    assert isinstance(running.fatal[0], TooManyDeadLetters)
    await running.stop()
    assert await bench.committed() <= 6


async def test_a_stop_lets_work_end_and_commits_it(bench: Bench) -> None:
    begun = asyncio.Event()
    ended = 0

    async def handle(received: Received[SourceDue]) -> None:
        nonlocal ended
        begun.set()
        await asyncio.sleep(0.3)
        ended += 1

    await bench.send(*(due() for _ in range(4)))
    running = await bench.consume(handle)
    await begun.wait()
    await running.stop()
    assert ended > 0
    assert await bench.committed() == ended


async def test_a_stop_does_not_wait_for_a_dependency(bench: Bench) -> None:
    called = asyncio.Event()

    async def handle(received: Received[SourceDue]) -> None:
        called.set()
        raise DependencyDown(Code.POSTGRES_DOWN, "away", after=600)

    await bench.send(due())
    running = await bench.consume(handle)
    await called.wait()
    async with asyncio.timeout(5):
        await running.stop()
    assert await bench.committed() == 0


@pytest.mark.parametrize("cut_short", [False, True])
async def test_a_rebalance_loses_nothing_and_repeats_only_what_was_cut_short(bench: Bench, cut_short: bool) -> None:
    handled: Counter[UUID] = Counter()

    async def handle(received: Received[SourceDue]) -> None:
        await asyncio.sleep(0.02)
        handled[received.event.source_id] += 1

    events = [due() for _ in range(300)]
    await bench.send(*events[:150])
    drain = {"drain_timeout": 0.001} if cut_short else {}
    first = await bench.consume(handle, window=8, **drain)

    async def some() -> bool:
        return handled.total() > 20

    await eventually_async(some)
    await bench.consume(handle, window=8)
    await bench.send(*events[150:])
    await all_committed(bench, 300)
    await first.stop()
    assert set(handled) == {event.source_id for event in events}
    if not cut_short:
        assert handled.total() == 300
