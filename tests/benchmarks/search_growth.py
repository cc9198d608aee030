"""How searches slow down as one organization grows, with a thousand small ones beside it."""

from __future__ import annotations

import asyncio
import sys
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import psycopg

from tests.benchmarks.search_rounds import Asker
from tests.support.filled import Filled, organization_id

DIMENSIONS = 384
SMALL, CHUNKS_OF_SMALL = 1_000, 50


def growth(dsn: str, module: Any, sizes: list[int], *, is_new: bool) -> dict[str, Any]:
    """For each number of chunks: route, milliseconds and recall. Each is an organization of one database."""
    filled = Filled(dsn, DIMENSIONS)
    workloads = {}
    for place, size in enumerate(sizes):
        workload = module.generate(size, DIMENSIONS)
        workloads[size] = SimpleNamespace(
            vectors=workload.vectors, org=np.full(size, place),
            queries=[(text, vector, place) for text, vector, _ in workload.queries],
        )  # fmt: skip
        if is_new:
            print(f"{size} chunks of one organization …", file=sys.stderr, flush=True)
            filled.write(workload.texts, workload.vectors, workloads[size].org)
    if is_new:
        small = module.generate(SMALL * CHUNKS_OF_SMALL, DIMENSIONS)
        filled.write(small.texts, small.vectors, len(sizes) + np.arange(SMALL * CHUNKS_OF_SMALL) % SMALL)
    begun = time.perf_counter()
    asyncio.run(filled.keep_up())
    kept = round(time.perf_counter() - begun, 1)
    return {"upkeep_s": kept, "sizes": [_asked(dsn, module, workload) for workload in workloads.values()]}


def _asked(dsn: str, module: Any, workload: Any) -> dict[str, Any]:
    asker = Asker(dsn, workload, module.exact_top)
    asker.round()
    organization = organization_id(int(workload.org[0]))
    with psycopg.connect(dsn) as connection:
        scope = "search_scope(%s, null, false, false, null, null, null, false, null)"
        [(route,)] = connection.execute(
            f"select vector_route({scope}, e) from embedding_space e".encode(), (organization,)
        ).fetchall()
    return {
        "chunks": len(workload.org),
        "route": route,
        **asker.round(),
        "vector": asker.round("vector"),
        "words": asker.round("words"),
        "recall_at_10": asker.recall(),
        "words_against_all_of_bm25": asker.words(),
    }
