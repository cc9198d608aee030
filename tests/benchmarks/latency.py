"""From publishing to searchable: small sources that come one by one, with the local model."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID, uuid4

import psycopg

from schemas.cloudevents import to_value
from schemas.events import SourceSubmitted
from tests.benchmarks.machine import Clock
from tests.benchmarks.stack import Stack, milliseconds, stack
from tests.benchmarks.texts import sources
from tests.support.messages import headers_of, producer

MODEL = "local/multilingual-e5-small"
EVERY = 0.2
LOOK = 0.005
WARM = 5
LATEST = 60.0


async def latency(kind: str = "tansu", *, quick: bool) -> dict[str, Any]:
    """One-chunk texts, five a second."""
    async with stack(kind, local_model=MODEL) as running:
        await measured(running, WARM)
        before = running.spent()
        clock = Clock(running.parts())
        took = await measured(running, 20 if quick else 100)
        seconds, spent, others = clock.stop()
        after = running.spent()
    ordered = sorted(took)
    return {
        "goal": {"p95_ms": 1000},
        "sources": len(took),
        "median_ms": round(1000 * ordered[len(ordered) // 2]),
        "p95_ms": round(1000 * ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]),
        "most_ms": round(1000 * ordered[-1]),
        "cores_used": {name: round(value / seconds, 3) for name, value in spent.items()},
        "cores_used_by_others": round(others, 2),
        "ms_per_message": milliseconds(before, after),
    }


async def measured(running: Stack, number: int) -> list[float]:
    """Seconds from publishing to ready of each source."""
    owner, loop = uuid4(), asyncio.get_running_loop()
    events = sources([owner], number, 1, seed=number)
    topic = running.pipeline.kafka.topic_prefix + "kb.source.events.v1"
    published: dict[str, float] = {}
    watching = asyncio.create_task(_watch(running.pipeline.dsn, owner, number))
    async with producer(running.pipeline.kafka.bootstrap) as client:
        begun = loop.time()
        for place, event in enumerate(events):
            await asyncio.sleep(max(0.0, begun + place * EVERY - loop.time()))
            published[_name(event)] = loop.time()
            await client.send_and_wait(topic, to_value(event), key=event.key(), headers=headers_of(event))
    ready = await watching
    return [ready[name] - at for name, at in published.items()]


def _name(event: SourceSubmitted) -> str:
    return event.external_id or ""


async def _watch(dsn: str, owner: UUID, number: int) -> dict[str, float]:
    """When each source was first seen ready."""
    loop, seen = asyncio.get_running_loop(), dict[str, float]()
    deadline = loop.time() + number * EVERY + LATEST
    query = "select external_id from knowledge_source where organization_id = %s and status = 'ready'"
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        while len(seen) < number:
            for (name,) in await (await connection.execute(query, (owner,))).fetchall():
                seen.setdefault(name, loop.time())
            if loop.time() > deadline:
                raise TimeoutError(f"{number - len(seen)} of {number} sources are not ready")
            await asyncio.sleep(LOOK)
    return seen
