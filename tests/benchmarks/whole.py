"""The whole pipeline: from published text events to searchable, and where the time goes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from statistics import median
from typing import Any
from uuid import UUID, uuid4

import psycopg

from schemas.cloudevents import to_value
from schemas.events import SourceSubmitted
from tests.benchmarks.machine import Clock
from tests.benchmarks.stack import Stack, milliseconds, stack
from tests.benchmarks.texts import sources
from tests.support.messages import headers_of, producer

GOALS = {"twenty_chunks": ("chunks_per_s", 800), "one_chunk": ("sources_per_s", 100)}
SECTIONS = {"twenty_chunks": 20, "one_chunk": 1}
ORGANIZATIONS = 8
SECONDS = 600.0


async def throughput(kind: str, *, quick: bool) -> dict[str, Any]:
    """Both shapes of sources on one broker, each over several organizations and over one alone."""
    numbers = {"twenty_chunks": 60 if quick else 300, "one_chunk": 250 if quick else 1_200}
    repeats = 1 if quick else 3
    async with stack(kind) as running:
        await run(running, sources([uuid4()], 20, 3, seed=0))  # connections, pools and caches are warm then
        found: dict[str, Any] = {}
        for shape, number in numbers.items():
            over = {"over_8_organizations": (ORGANIZATIONS, number), "one_organization": (1, max(1, number // 3))}
            for name, (organizations, count) in over.items():
                runs = []
                for _ in range(repeats):
                    owners = [uuid4() for _ in range(organizations)]
                    runs.append(await run(running, sources(owners, count, SECTIONS[shape], seed=len(runs) + 1)))
                found.setdefault(shape, {})[name] = _middle(runs, *GOALS[shape])
        return found


def _middle(runs: Sequence[dict[str, Any]], figure: str, goal: int) -> dict[str, Any]:
    """The run in the middle, with the figures of all."""
    figures = [one[figure] for one in runs]
    middle = min(runs, key=lambda one: abs(one[figure] - median(figures)))
    return {"goal": {figure: goal}, "all_runs": figures, **middle}


async def run(running: Stack, events: Sequence[SourceSubmitted]) -> dict[str, Any]:
    """Publish the events and wait until all can be found. Values are made before the clock starts."""
    messages = [(to_value(event), event.key(), headers_of(event)) for event in events]
    topic = running.pipeline.kafka.topic_prefix + "kb.source.events.v1"
    owners = list({event.organization_id for event in events})
    before = running.spent()
    async with producer(running.pipeline.kafka.bootstrap) as client:
        clock = Clock(running.parts())
        sent = [await client.send(topic, value, key=key, headers=headers) for value, key, headers in messages]
        await asyncio.gather(*sent)
        published = clock.seconds
        statuses = await _all_ready(running, owners, len(events))
        seconds, spent, others = clock.stop()
    after, (chunks, characters) = running.spent(), _written(running, owners)
    return {
        "sources": len(events),
        "chunks": chunks,
        "characters_per_chunk": round(characters / max(1, chunks)),
        "seconds": round(seconds, 2),
        "seconds_to_publish": round(published, 2),
        "chunks_per_s": round(chunks / seconds),
        "sources_per_s": round(len(events) / seconds, 1),
        "not_ready": len(events) - statuses.get("ready", 0),
        "cores_used": {**_rounded(spent, 1 / seconds), "sum": round(sum(spent.values()) / seconds, 2)},
        "cores_used_by_others": round(others, 2),
        "cpu_s_per_1000_chunks": _rounded(spent, 1000 / max(1, chunks)),
        "chunks_per_cpu_s": round(chunks / sum(spent.values())),
        "ms_per_message": milliseconds(before, after),
    }


def _rounded(spent: dict[str, float], factor: float) -> dict[str, float]:
    return {name: round(seconds * factor, 3) for name, seconds in spent.items()}


async def _all_ready(running: Stack, owners: Sequence[UUID], number: int) -> dict[str, int]:
    """Wait until so many sources are ready or failed, looking rarely, so that the looks cost nothing."""
    query = "select status, count(*) from knowledge_source where organization_id = any(%s) group by 1"
    async with await psycopg.AsyncConnection.connect(running.pipeline.dsn, autocommit=True) as connection:
        for _ in range(int(SECONDS / 0.05)):
            cursor = await connection.execute(query, (list(owners),))
            found: dict[str, int] = dict(await cursor.fetchall())
            if found.get("ready", 0) + found.get("failed", 0) >= number:
                return found
            await asyncio.sleep(0.05)
    raise TimeoutError(f"not ready within {SECONDS:g} s: {found}")


def _written(running: Stack, owners: Sequence[UUID]) -> tuple[int, int]:
    query = "select count(*), coalesce(sum(length(text)), 0) from chunk where organization_id = any(%s)"
    ((chunks, characters),) = running.pipeline.rows(query, list(owners))
    return chunks, int(characters)
