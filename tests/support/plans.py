"""What Postgres makes of a statement, for tests that it uses its indexes and stays quick."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from typing import Any

import psycopg


def sequential_scans(dsn: str, query: str, parameters: Any, role: str = "kb_pipeline") -> set[str]:
    """Tables that the statement reads from end to end. It is not run."""
    with psycopg.connect(dsn, cursor_factory=psycopg.ClientCursor) as connection:
        connection.execute(f"set role {role}")
        ((plan,),) = connection.execute("explain (format json) " + query, parameters).fetchall()
    return {node["Relation Name"] for node in _nodes(plan[0]["Plan"]) if node["Node Type"] == "Seq Scan"}


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for inner in node.get("Plans", ()):
        yield from _nodes(inner)


def milliseconds(dsn: str, query: str, parameters: Any, times: int = 15) -> float:
    """The median time of the statement, each time undone."""
    taken = []
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("set role kb_pipeline")
        for _ in range(times):
            with connection.transaction(force_rollback=True):
                begin = time.perf_counter()
                connection.execute(query, parameters).fetchall()
                taken.append(time.perf_counter() - begin)
    return statistics.median(taken) * 1000
