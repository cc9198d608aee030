"""How fast one core parses and chunks. Prints JSON: megabytes a second by kind of text, pages a second by site.

    python tests/benchmarks/chunking.py [--rounds 5]

The process is set up as one of the pool. Processor time is counted, of the best round, so that other work on the
machine distorts it little. Needs `../shared`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from services.chunker.chunking import extents  # noqa: E402
from services.chunker.job import collect_rarely  # noqa: E402
from services.chunker.parsing import parse  # noqa: E402
from services.chunker.presets import PRESETS  # noqa: E402

DATA = ROOT.parent / "shared/data"
FILES = {
    "markdown": ("a.md", ["md-commonmark-spec.md", "md-lua-filters.md"]),
    "text": ("a.txt", ["md-commonmark-spec.md", "txt-one-line-1mb.txt"]),
    "html": ("a.html", ["html-wikipedia-duck.html"]),
}


def best(rounds: int, work: Callable[[], object]) -> float:
    """Seconds of processor time of the fastest of `rounds`."""
    times = []
    for _ in range(rounds):
        started = process_time()
        work()
        times.append(process_time() - started)
    return min(times)


def rate(name: str, bodies: Sequence[bytes], rounds: int) -> dict[str, float]:
    """Megabytes of source a second: parsing, chunking what was parsed, and both."""
    documents = [parse(body, name=name) for body in bodies]
    megabytes = sum(map(len, bodies)) / 1e6
    parsing = best(rounds, lambda: [parse(body, name=name) for body in bodies])
    chunking = best(rounds, lambda: [extents(document, PRESETS["default"], None) for document in documents])
    seconds = {"parse": parsing, "chunk": chunking, "both": parsing + chunking}
    return {step: round(megabytes / spent, 2) for step, spent in seconds.items()}


def pages(site: Path, rounds: int) -> dict[str, float]:
    """Pages a second of one site: parsing alone, and with chunking."""
    bodies = [path.read_bytes() for path in sorted(site.rglob("*.html"))]
    documents = [parse(body, media_type="text/html") for body in bodies]
    parsing = best(rounds, lambda: [parse(body, media_type="text/html") for body in bodies])
    chunking = best(rounds, lambda: [extents(document, PRESETS["default"], None) for document in documents])
    return {"parse": round(len(bodies) / parsing, 1), "both": round(len(bodies) / (parsing + chunking), 1)}


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=5)
    rounds = arguments.parse_args().rounds
    collect_rarely()
    kinds = {
        kind: rate(name, [(DATA / "files" / file).read_bytes() for file in files], rounds)
        for kind, (name, files) in FILES.items()
    }
    sites = {
        gold.stem: pages(DATA / "sites" / gold.stem, rounds) for gold in sorted((DATA / "sites_gold").glob("*.jsonl"))
    }
    print(json.dumps({"megabytes_per_second": kinds, "pages_per_second": sites}, indent=2))


if __name__ == "__main__":
    main()
