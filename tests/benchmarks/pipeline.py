"""How fast everything is, and where the time goes. Prints one JSON document; progress goes to standard error.

    python -m tests.benchmarks.pipeline [--quick] [--kafka] [--peers] [--stages] [--only PART ...]

Always: whole pipeline, latency, memory. `--kafka` adds Apache Kafka beside the embedded broker, `--stages` each stage
alone, `--peers` what one would take instead. Figures of one run can be compared with each other; `cores_used_by_others`
says what else the machine was busy with. docs/benchmarks.md explains the rest.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import uvloop

from tests.benchmarks.latency import latency
from tests.benchmarks.machine import description
from tests.benchmarks.memory import memory_use
from tests.benchmarks.peers import peers
from tests.benchmarks.stages import stages
from tests.benchmarks.whole import throughput
from tests.support.kafka import kafka_missing

Part = Callable[[], Any]


def planned(asked: argparse.Namespace) -> dict[str, Part]:
    """What to run, in order."""
    quick = asked.quick
    found: dict[str, Part] = {"whole": lambda: throughput("tansu", quick=quick)}
    if asked.kafka:
        found["whole_on_kafka"] = lambda: on_kafka(quick=quick)
    found["latency"] = lambda: latency(quick=quick)
    found["memory"] = lambda: memory_use(quick=quick)
    if asked.stages or asked.peers:
        found["stages"] = lambda: stages(quick=quick)
    if asked.peers:
        found["peers"] = lambda: peers(quick=quick)
    return {name: part for name, part in found.items() if not asked.only or name in asked.only}


def on_kafka(*, quick: bool) -> Any:
    """The same on Apache Kafka, where its jars are."""
    missing = kafka_missing()
    return {"skipped": missing} if missing else throughput("kafka", quick=quick)


def run(part: Part) -> Any:
    """The part's result; coroutines run in the services' kind of loop."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        result = part()
        return runner.run(result) if asyncio.iscoroutine(result) else result


def beside_ours(found: dict[str, Any]) -> dict[str, Any]:
    """Rows a second of the peers and of ours."""
    rows = {name: peer.get("rows_per_s") for name, peer in found["peers"].items() if isinstance(peer, dict)}
    if "stages" in found:
        rows["ours, indexer alone"] = found["stages"]["indexer"]["chunks_per_s"]
    if "whole" in found:
        rows["ours, whole pipeline"] = found["whole"]["twenty_chunks"]["over_8_organizations"]["chunks_per_s"]
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag in ("--quick", "--kafka", "--peers", "--stages"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--only", nargs="*", default=[], metavar="PART")
    found: dict[str, Any] = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "machine": description()}
    for name, part in planned(parser.parse_args()).items():
        begun = time.monotonic()
        print(f"{name} …", file=sys.stderr, flush=True)
        found[name] = run(part)
        print(f"{name}: {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
    if "peers" in found:
        found["rows_per_s"] = beside_ours(found)
    found["load_average_at_the_end"] = description()["load_average"]
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
