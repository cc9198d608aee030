"""`kb eval` on a system of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic import SecretStr

from schemas.events import Event
from services.chassis.blobs import BlobStore
from services.chassis.broker import Publisher
from services.chassis.migrations import migrate
from services.chassis.postgres import Postgres
from services.chassis.settings import BlobSettings, PostgresSettings
from services.cli.evaluation.collection import Document
from services.cli.evaluation.ingesting import ingest
from services.cli.evaluation.system import System
from services.cli.failures import CommandFailed

ROOT = Path(__file__).parents[3]
SECONDS = 150
CORPUS = [
    {
        "_id": "refunds",
        "title": "Refunds",
        "text": "Customers get their money back within thirty days of the purchase.",
    },
    {"_id": "hours", "title": "Opening hours", "text": "On Sundays the library opens at noon."},
    {"_id": "penguins", "text": "Penguins live in the south. They eat fish and swim well."},
    {"_id": "empty", "title": "", "text": ""},
    {"_id": "long", "title": "Novel", "text": "The zeppelin landed quietly. " + "Then nothing happened.\n\n" * 13_000},
]
QUERIES = [
    {"_id": "q1", "text": "when does the library open on Sundays"},
    {"_id": "q2", "text": "who eats fish? " + "who eats fish? " * 40},
    {"_id": "q3", "text": "ox"},
    {"_id": "q4", "text": "what did the zeppelin do"},
]
JUDGMENTS = "q1\thours\t2\nq1\tempty\t1\nq2\tpenguins\t1\nq3\trefunds\t1\nq4\tlong\t1\n"

Evaluate = Callable[..., Any]


@pytest.fixture
def evaluate(tmp_path: Path) -> Evaluate:
    """Runs `kb eval` on the collection of this module without a model, and gives what it prints."""
    folder = tmp_path / "small"
    (folder / "qrels").mkdir(parents=True)
    for name, rows in (("corpus", CORPUS), ("queries", QUERIES)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    (folder / "qrels" / "test.tsv").write_text(JUDGMENTS, encoding="utf-8")
    env = {name: value for name, value in os.environ.items() if not name.startswith("KB_")}
    env |= {"PYTHONPATH": str(ROOT), "KB_HOME": str(tmp_path / "home")}

    def run(*arguments: str) -> Any:
        command = [sys.executable, "-m", "services.cli", "eval", str(folder), "--model", "none", "--json", *arguments]
        ended = subprocess.run(
            command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS, check=False
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return json.loads(ended.stdout)

    return run


@pytest.mark.slow
@pytest.mark.timeout(2 * SECONDS)
def test_what_was_ingested_is_asked_again_without_being_ingested_again(evaluate: Evaluate, tmp_path: Path) -> None:
    first = evaluate("--fusion", "keyword")
    assert first["ingested_now"] == first["documents"] == 5
    assert list(first["failed"]) == ["empty"]
    assert first["failed"]["empty"][0] == "EMPTY"
    assert (first["queries"], first["queries_cut"], first["queries_too_short"]) == (3, 1, 1)
    # q1 finds 2 of 2 + 1 / log2(3), the others all.
    assert first["nDCG@10"] == pytest.approx((2 / 2.6309297536 + 2) / 3, abs=1e-4)
    assert first["recall@30"] == pytest.approx((0.5 + 2) / 3, abs=1e-4)
    assert first["MRR@10"] == 1
    assert (first["model"], first["degraded"], first["model_ms"]) == ("none", "W001", None)

    page = tmp_path / "page.html"
    again = evaluate("--fusion", "keyword,scores", "--report", str(page))["results"]
    assert [row["fusion"] for row in again] == ["keyword", "scores"]
    assert [row["ingested_now"] for row in again] == [0, 0]
    same = ("nDCG@10", "recall@30", "MRR@10", "documents", "chunks", "failed")
    assert {name: again[0][name] for name in same} == {name: first[name] for name in same}
    assert "when does the library open" in page.read_text(encoding="utf-8")


class Nowhere:
    """Confirms what nobody reads."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    async def publish(self, event: Event) -> None:
        self.events.append(event)


async def test_documents_that_do_not_move_end_the_wait(database: str) -> None:
    migrate(database)
    postgres = Postgres(PostgresSettings(dsn=SecretStr(database), role="kb_query"))
    await postgres.open()
    nowhere = Nowhere()
    system = System(postgres, cast(Publisher, nowhere), BlobStore(BlobSettings(url="memory://")), None)
    try:
        with pytest.raises(CommandFailed, match="0 of 2 documents, and no further one") as failed:
            await ingest(system, [Document("a", "", "x"), Document("b", "", "y")], 0.1, [].append)
    finally:
        await postgres.close()
    assert failed.value.code == "LEASE_LOST"
    assert len(nowhere.events) == 2
