"""kill -9 anywhere: the tables end as those of a run that nobody disturbed, row for row except times."""

from __future__ import annotations

import asyncio
import random
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from schemas.cloudevents import to_value
from schemas.events import Event, SourceMetadataChanged, SourceRefreshRequested, SourceRemoved
from schemas.topics import TOPICS
from services.chassis.failpoints import FAILPOINTS
from tests.support.messages import headers_of, producer, read_all
from tests.support.pipeline import WORKERS, Pipeline, text_source
from tests.support.tables import dump

EVERYWHERE = frozenset(WORKERS)
DIES_IN = {
    "before-blob-write": {"fetcher"},
    "after-blob-write": {"fetcher"},
    "before-publish": {"fetcher", "chunker", "embedder"},
    "after-publish": {"fetcher", "chunker", "embedder"},
    "before-postgres-commit": EVERYWHERE,
    "after-postgres-commit": EVERYWHERE,
    "before-offset-commit": EVERYWHERE,
    "after-offset-commit": EVERYWHERE,
    "between-batches": {"chunker", "indexer"},
    "mid-drain": EVERYWHERE,
}


def test_every_failpoint_is_tried() -> None:
    assert set(DIES_IN) == FAILPOINTS


def first_wave(organization: UUID) -> list[Event]:
    """Short texts, and texts of several batches of chunks."""
    short = [text_source(organization, f"short {number}") for number in range(8)]
    long = [text_source(organization, f"long {number}", paragraphs=30, words=220) for number in range(2)]
    return [*short, *long]


def second_wave(organization: UUID) -> list[Event]:
    """A text that grew, one that is refreshed, one that gets a new title, and two that go."""
    return [
        text_source(organization, "short 0", paragraphs=3),
        text_source(organization, "long 0", paragraphs=31, words=220),
        SourceRefreshRequested(organization_id=organization, external_id="short 1"),
        SourceMetadataChanged(organization_id=organization, external_id="short 2", title="Another title"),
        SourceRemoved(organization_id=organization, external_id="short 3"),
        SourceRemoved(organization_id=organization, external_id="long 1"),
    ]


async def publish(made: Pipeline, wave: str, events: list[Event]) -> None:
    """Publish with event ids that do not differ from run to run."""
    topic = made.kafka.topic_prefix + "kb.source.events.v1"
    async with producer(made.kafka.bootstrap) as client:
        for number, event in enumerate(events):
            headers = headers_of(event, id=f"{wave} {number}")
            await client.send_and_wait(topic, to_value(event), key=event.key(), headers=headers)


async def revive(made: Pipeline) -> list[str]:
    """Start again, without a failpoint, every process that has died. Gives the services of those."""
    dead = [child for child in made.running if child.exit_code is not None]
    for child in dead:
        assert child.exit_code == -signal.SIGKILL, child.log_path.read_text()[-3000:]
        made.running.remove(child)
    services = [child.name.split("-")[0] for child in dead]
    if services:
        await made.start(services)
    return services


async def leave(made: Pipeline) -> list[str]:
    """Leave the dead to somebody else."""
    return []


SETTLE_SECONDS = 120
SETTLED = """
select count(*) from knowledge_source s
where organization_id = %s and (status not in ('ready', 'failed', 'deleted')
   or (live_revision is not null and words_prefix is distinct from
       words_prefix_of(title, description, coalesce(language, document_language))))
"""


Reviver = Callable[[Pipeline], Awaitable[list[str]]]


async def settle(made: Pipeline, organization: UUID, events: int, reviver: Reviver) -> list[str]:
    """Revive what dies until all wishes are taken, nothing is under way and upstream has been told."""
    died: list[str] = []
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        died += await reviver(made)
        ((taken,),) = made.rows("select count(*) from taken_event where organization_id = %s", organization)
        ((open_,),) = made.rows(SETTLED, organization)
        ((untold,),) = made.rows(
            "select count(*) from source_event where organization_id = %s and published_at is null", organization
        )
        if (taken, open_, untold) == (events, 0, 0):
            return died
        if time.monotonic() > deadline:
            rows = made.rows(
                "select external_id, status, stage, revision, due_at - now(), lapses, error_reason "
                "from knowledge_source where organization_id = %s and status <> 'ready'",
                organization,
            )
            pytest.fail(f"taken {taken}/{events}, open {open_}, untold {untold}: {rows}")
        await asyncio.sleep(0.05)


async def both_waves(made: Pipeline, organization: UUID, reviver: Reviver = revive) -> list[str]:
    first, second = first_wave(organization), second_wave(organization)
    await publish(made, "first", first)
    died = await settle(made, organization, len(first), reviver)
    await publish(made, "second", second)
    return died + await settle(made, organization, len(first) + len(second), reviver)


@pytest.fixture
async def undisturbed(made: Pipeline) -> AsyncIterator[dict[str, list[str]]]:
    """The tables after a run in peace, with the services still running."""
    organization = uuid4()
    await made.start()
    assert await both_waves(made, organization) == []
    yield dump(made.dsn, organization)
    for name in (topic.dead_letter(group) for topic in TOPICS for group in topic.consumers):
        assert await read_all(made.kafka.bootstrap, made.kafka.topic_prefix + name, 1, seconds=0.3) == []


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_a_kill_at_every_failpoint_changes_nothing(
    made: Pipeline, undisturbed: dict[str, list[str]], tmp_path: Path
) -> None:
    assert sum(map(len, undisturbed.values())) > 200
    for failpoint, services in DIES_IN.items():
        organization = uuid4()
        armed = tmp_path / f"armed-{failpoint}"
        await made.stop()
        own = {"KB_FAILPOINT": f"{failpoint}:2", "KB_FAILPOINT_ARMED": str(armed)}
        if failpoint == "mid-drain":
            own["KB_FAILPOINT"] = failpoint
        await made.start(own=own)
        armed.touch()
        if failpoint == "mid-drain":
            for child in made.running:
                asyncio.get_running_loop().call_later(0.3, child.terminate)
        died = await both_waves(made, organization)
        assert set(died) == set(services), failpoint
        assert dump(made.dsn, organization) == undisturbed, failpoint


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_kills_at_random_under_load_change_nothing(made: Pipeline, undisturbed: dict[str, list[str]]) -> None:
    chance = random.Random(20261130)
    await made.start()  # a second process of each stage
    organizations = [uuid4() for _ in range(6)]
    kills = 0

    async def kill_and_revive() -> None:
        nonlocal kills
        while kills < 12:
            await asyncio.sleep(chance.uniform(0.3, 1.5))
            victim = chance.choice(made.running)
            if victim.uptime > 3:
                victim.kill()
                victim.start()
                kills += 1

    killer = asyncio.create_task(kill_and_revive())
    await asyncio.gather(*(both_waves(made, organization, leave) for organization in organizations), killer)
    for organization in organizations:
        assert dump(made.dsn, organization) == undisturbed
