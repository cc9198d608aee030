"""How fast and how complete searches are, beside what one would use instead. Prints JSON; progress goes to stderr.

    python -m tests.benchmarks.search [--workload FILE] [--sizes 20000x1536 200000x384] [--peers lancedb pgvector]
                                      [--rounds 3] [--growth 1000 10000 100000 500000] [--plot FILE] [--keep FOLDER]

The workload (rows of many organizations, questions within one) is written as the indexer leaves it and kept up by the
indexer's own upkeep. Rounds of all questions alternate with the peers', so that other work on the machine meets all
alike; the figures are medians of the rounds. `statement` is the whole search in Postgres from a client's point of view,
`http` the service around it. docs/benchmarks.md explains the rest.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from services.chassis.embedded.postgres import EmbeddedPostgres
from services.chassis.logging import configure_logging
from services.chassis.settings import LogSettings
from tests.benchmarks.machine import Clock, description
from tests.benchmarks.peers import environment
from tests.benchmarks.search_growth import growth
from tests.benchmarks.search_http import over_http
from tests.benchmarks.search_plot import plot
from tests.benchmarks.search_rounds import Asker
from tests.benchmarks.texts import ROOT, SHARED
from tests.support.filled import Filled

WORKLOAD = SHARED / "bench/workload.py"
CLIENTS = 16


def workload_of(file: Path) -> Any:
    """The module that makes the workload."""
    spec = importlib.util.spec_from_file_location("workload", file)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules["workload"] = module
    spec.loader.exec_module(module)
    return module


class Peer:
    """One that is loaded once and asked in turn with ours."""

    def __init__(self, name: str, folder: Path, rows: int, dimensions: int) -> None:
        command = [environment(), str(ROOT / "tests/benchmarks/search_peer.py"), str(folder), name]
        self._process = subprocess.Popen(
            [*command, str(rows), str(dimensions)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.loaded = self._answer()

    def ask(self, what: str) -> Any:
        """Its answer to a command."""
        assert self._process.stdin
        self._process.stdin.write(what + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("a peer ended")
        return json.loads(line)

    def close(self) -> None:
        """End it."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(60)


@contextmanager
def database(folder: Path, name: str) -> Iterator[tuple[str, bool]]:
    """A server with a database, and whether it is new. It does not sync: searches only read."""
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    with EmbeddedPostgres(folder, fast=True) as server:
        if is_new:
            with psycopg.connect(server.dsn, autocommit=True) as connection:
                connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        yield server.dsn_of(name), is_new


def median_of(rounds: list[dict[str, float]]) -> dict[str, float]:
    """The median of each figure."""
    return {key: round(statistics.median(each[key] for each in rounds), 2) for key in rounds[0]}


def side_by_side(module: Any, folder: Path, rows: int, dimensions: int, asked: argparse.Namespace) -> dict[str, Any]:
    """Ours and the peers on one workload."""
    workload = module.generate(rows, dimensions)
    with database(folder / f"{rows}x{dimensions}", "search") as (dsn, is_new):
        found: dict[str, Any] = {"loaded": _fill(dsn, workload, is_new)}
        asker = Asker(dsn, workload, module.exact_top)
        clock = Clock({})
        peers = {name: Peer(name, asked.workload.parent, rows, dimensions) for name in asked.peers}
        asker.round()
        rounds: dict[str, list[dict[str, float]]] = {"ours": [], **{name: [] for name in peers}}
        for _ in range(asked.rounds):
            rounds["ours"].append(asker.round())
            for name, peer in peers.items():
                rounds[name].append(peer.ask("round"))
        found["statement_ms"] = {name: median_of(each) for name, each in rounds.items()}
        found["ours_by_size_of_organization"] = asker.by_size()
        found["ours_by_arm"] = {arm: asker.round(arm) for arm in ("vector", "words")}
        found["recall_at_10"] = {"ours": asker.recall(), **{name: peer.ask("recall") for name, peer in peers.items()}}
        found["words_against_all_of_bm25"] = asker.words()
        found[f"clients_{CLIENTS}"] = {"ours": asyncio.run(asker.clients(CLIENTS))} | {
            name: peer.ask(f"clients {CLIENTS}") for name, peer in peers.items()
        }
        found["http_ms"] = over_http(dsn, workload, asker)
        for peer in peers.values():
            peer.close()
        found["cores_busy_by_all"] = round(clock.stop()[2], 2)
    return found


def _fill(dsn: str, workload: Any, is_new: bool) -> dict[str, float]:
    if not is_new:
        return {}
    begun = time.perf_counter()
    filled = Filled(dsn, workload.vectors.shape[1])
    filled.write(workload.texts, workload.vectors, workload.org)
    written = time.perf_counter()
    asyncio.run(filled.keep_up())
    return {"write_s": round(written - begun, 1), "upkeep_s": round(time.perf_counter() - written, 1)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", type=Path, default=WORKLOAD)
    parser.add_argument("--sizes", nargs="*", default=["20000x1536", "200000x384"], metavar="ROWSxDIMENSIONS")
    parser.add_argument("--peers", nargs="*", default=["lancedb", "pgvector"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--growth", nargs="*", type=int, default=[], metavar="CHUNKS")
    parser.add_argument("--plot", type=Path, help="File for a picture of the growth, as SVG.")
    parser.add_argument("--keep", type=Path, help="Folder in which the filled databases stay for the next run.")
    asked = parser.parse_args()
    configure_logging(LogSettings(), "benchmark")  # on standard error
    module = workload_of(asked.workload)
    found: dict[str, Any] = {"machine": description()}
    with tempfile.TemporaryDirectory(prefix="search-") as scratch:
        folder = asked.keep or Path(scratch)
        for size in asked.sizes:
            print(f"{size} …", file=sys.stderr, flush=True)
            rows, dimensions = map(int, size.split("x"))
            found[size] = side_by_side(module, folder, rows, dimensions, asked)
        if asked.growth:
            with database(folder / "growth", "search") as (dsn, is_new):
                found["growth"] = growth(dsn, module, asked.growth, is_new=is_new)
                if asked.plot:
                    asked.plot.write_text(plot(found["growth"]["sizes"]), encoding="utf-8")
    json.dump(found, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
