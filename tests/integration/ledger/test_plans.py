"""The statements that run all the time use their indexes, and a long queue costs what a short one costs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from services.chassis.queries import load_queries
from tests.support.migrated import Tables
from tests.support.plans import milliseconds, sequential_scans
from tests.support.queue import fill

DISPATCH = load_queries("services.fetcher", "dispatch.sql")
INTAKE = load_queries("services.fetcher", "intake.sql")
LEDGER = load_queries("services.ledger", "ledger.sql")
ROWS = 20_000
SHORT = timedelta(minutes=10)
TURN = {"each": 16, "all": 256, "lease": SHORT}


@pytest.fixture(scope="module")
def ledger(migrated: str) -> Iterator[Tables]:
    """Sources of ten organizations: most are ready and will be due, one has a long queue, some are in flight."""
    tables = Tables(migrated)
    tables.forget_all()
    for number in range(10):
        fill(
            tables,
            UUID(int=number + 1),
            ROWS // 20,
            status="ready",
            stage=None,
            priority=3,
            age=-86_400,
            live_revision=1,
        )
    fill(tables, UUID(int=1), ROWS // 2, name="queued")
    for number in range(5):
        fill(tables, UUID(int=number + 1), 8, name="in flight", status="ingesting", stage="embedding", age=-300)
    tables.rows("vacuum analyze knowledge_source")
    tables.rows("analyze knowledge_base")
    yield tables
    tables.close()


def one(tables: Tables) -> dict[str, Any]:
    organization, source, revision = tables.row(
        "select organization_id, id, revision from knowledge_source where status = 'ingesting' limit 1"
    )
    return {"organization": organization, "source": source, "revision": revision}


STATEMENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "take_turns": (DISPATCH["take_turns"], TURN),
    "hold": (DISPATCH["hold"], {"lease": SHORT}),
    "room": (DISPATCH["room"], {"all": 256}),
    "count_due": (DISPATCH["count_due"], {}),
    "unchanged": (
        DISPATCH["unchanged"],
        dict.fromkeys(("etag", "last_modified"))
        | {"body_hash": "x", "cutting": "1/default", "type": "t", "event_id": uuid4()},
    ),
    "fail": (LEDGER["fail"], {"code": "c", "reason": "r", "type": "t", "event_id": uuid4()}),
    "retry": (LEDGER["retry"], {"code": "c", "reason": "r", "counts": 1, "after": SHORT, "pause": SHORT, "most": 5}),
    "progress": (LEDGER["progress"], {"stage": "indexing", "lease": SHORT}),
    "refresh": (INTAKE["refresh"], {"event_source": "s", "event_id": "i", "time": "2026-01-01", "priority": 1}),
    "state": (INTAKE["state"], {"time": "2026-01-01"}),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_no_statement_reads_the_whole_ledger(ledger: Tables, name: str) -> None:
    query, parameters = STATEMENTS[name]
    row = one(ledger)
    columns = {f"{name}s": [value] for name, value in row.items()}
    assert "knowledge_source" not in sequential_scans(ledger.dsn, query, row | columns | parameters)


def test_progress_of_many_reads_only_those(ledger: Tables) -> None:
    rows = ledger.rows("select organization_id, id, revision from knowledge_source limit 256")
    columns = dict(zip(("organizations", "sources", "revisions"), map(list, zip(*rows, strict=True)), strict=True))
    parameters = columns | {"stage": "indexing", "lease": SHORT}
    assert "knowledge_source" not in sequential_scans(ledger.dsn, LEDGER["progress"], parameters)


def turn_and_look(tables: Tables) -> tuple[float, float]:
    tables.rows("vacuum analyze knowledge_source")
    turn = milliseconds(tables.dsn, DISPATCH["take_turns"], TURN)
    return turn, milliseconds(tables.dsn, DISPATCH["room"], {"all": 256})


@pytest.mark.parametrize(
    "row",
    [
        pytest.param({}, id="a long queue of one organization"),
        pytest.param({"archived_at": "2026-01-01", "status": "ready"}, id="many archived sources that are due"),
        pytest.param({"status": "ready", "age": -86_400.0, "priority": 3}, id="many ready sources that will be due"),
    ],
)
def test_a_turn_takes_as_long_with_many_rows_as_with_few(tables: Tables, row: dict[str, Any]) -> None:
    fill(tables, UUID(int=1), 50, **row)
    fill(tables, UUID(int=2), 20, name="of another")
    few = turn_and_look(tables)
    fill(tables, UUID(int=1), ROWS, name="more", **row)
    many = turn_and_look(tables)
    # A floor of what a busy machine adds by itself; reading 20,000 rows takes about 10 ms.
    assert many[0] < max(2 * few[0], few[0] + 3), (few, many)
    assert many[1] < max(2 * few[1], few[1] + 2), (few, many)
