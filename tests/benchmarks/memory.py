"""Memory of every process: at rest, and at its peak while the largest source goes through."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import psutil

from schemas.events import SourceSubmitted
from schemas.events.source import FileReference
from services.chassis.blobs import BlobStore
from services.chassis.settings import BlobSettings
from services.encoder.tokens import count_tokens
from tests.benchmarks.machine import forget_peak, memory, tree
from tests.benchmarks.stack import Stack, stack
from tests.benchmarks.texts import markdown

GOAL_MB = {"at_rest": 300, "at_peak": 600}
TOKENS = 200_000
REST_SECONDS = 3.0
READY_SECONDS = 300.0
WITH_MODELS = {"model server": None, "local/multilingual-e5-small": "local/multilingual-e5-small"}


async def memory_use(*, quick: bool) -> dict[str, Any]:
    """With a model server, then with the local model in the embedder."""
    found: dict[str, Any] = {"goal_mb": GOAL_MB, "tokens_of_source": 0}
    for name, local_model in WITH_MODELS.items():
        async with stack(local_model=local_model) as running:
            await asyncio.sleep(REST_SECONDS)
            rest = _of_all(running, "now")
            for pid in _pids(running):
                forget_peak(pid)
            text = _largest(20_000 if quick else TOKENS)
            found["tokens_of_source"] = count_tokens(text)
            seconds = await _ingest(running, text)
            peak = _of_all(running, "peak")
        found[name] = {"seconds": round(seconds, 1), "megabytes": {n: [rest.get(n, 0.0), peak[n]] for n in peak}}
        found[name] |= {"most_at_rest": max(rest.values()), "most_at_peak": max(peak.values())}
    return found


def _largest(tokens: int) -> str:
    """A text of just below so many tokens."""
    rng, parts, total = random.Random(9), [], 0
    while True:
        part = markdown(4, rng)
        total += count_tokens(part) + 2
        if total > tokens:
            return "\n\n".join(parts)
        parts.append(part)


async def _ingest(running: Stack, text: str) -> float:
    """Seconds until the text, an uploaded file, is ready."""
    owner, loop = uuid4(), asyncio.get_running_loop()
    key = f"organizations/{owner}/uploads/large.md"
    await BlobStore(BlobSettings(url=running.pipeline.fleet.blob_url)).put(key, text.encode())
    file = FileReference(blob_key=key, filename="large.md", media_type="text/markdown")
    begun = loop.time()
    await running.pipeline.publish(SourceSubmitted(organization_id=owner, external_id="large", kind="file", file=file))
    statuses = await running.pipeline.settled(owner, 1, READY_SECONDS)
    if statuses != {"ready": 1}:
        raise RuntimeError(f"the large source has not become ready: {statuses}")
    return loop.time() - begun


def _pids(running: Stack) -> dict[int, str]:
    """Each process and its name; those of Postgres share theirs, and so do those that parse."""
    roots: Mapping[str, tuple[int, str]] = running.parts()
    found = {}
    for name, (root, way) in roots.items():
        if name in ("benchmark", "model server"):
            continue
        pids = [root] if way == "own" else tree(root) if way == "tree" else tree(root)[1:]
        found |= dict.fromkeys((pid for pid in pids if psutil.pid_exists(pid)), name)
    return found


def _of_all(running: Stack, which: str) -> dict[str, float]:
    """The largest of the processes of each name. Memory that Postgres' processes share counts for each."""
    found: dict[str, float] = {}
    for pid, name in _pids(running).items():
        found[name] = max(found.get(name, 0.0), memory(pid).get(which, 0.0))
    return found
