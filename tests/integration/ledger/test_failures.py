"""What becomes of a revision whose stage could not do its work."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.codes import Code
from schemas.events import SourceDue, SourceSubmitted, Work
from services.chassis.errors import DependencyDown, RetryLater, SourceRefused
from services.chassis.postgres import Postgres
from services.ledger import Ledger, Stage
from services.ledger.settings import LedgerSettings
from tests.support.migrated import Tables
from tests.support.queue import fill
from tests.support.rooms import Rooms

SETTINGS = LedgerSettings(attempts=4, retry_pause=10.0, lease=600.0)
SECONDS = "extract(epoch from due_at - now())::float8"


@pytest.fixture
def ledger(postgres: Postgres) -> Ledger:
    return Ledger(postgres, SETTINGS, "chunking")


def in_flight(tables: Tables, **row: Any) -> Work:
    organization = uuid4()
    fill(tables, organization, 1, age=-600, **{"status": "ingesting", "stage": "fetching"} | row)
    return work_of(tables, organization)


def work_of(tables: Tables, organization: UUID) -> Work:
    found = tables.row("select id, revision from knowledge_source where organization_id = %s", organization)
    return Work(organization_id=organization, source_id=found[0], revision=found[1])


def raising(error: Exception) -> Any:
    async def do(_: Work) -> None:
        raise error

    return do


def again(tables: Tables) -> None:
    """As if the dispatcher had given it out."""
    tables.rows("update knowledge_source set status = 'ingesting', due_at = now() + interval '10 minutes'")


async def test_pauses_grow_until_the_source_fails_with_its_code(ledger: Ledger, tables: Tables) -> None:
    work, pauses = in_flight(tables), []
    for attempt in range(1, 4):
        await Stage(ledger).run(work, raising(RetryLater(Code.FETCH_TIMEOUT, "slow")))
        row = tables.row(f"select status, stage, attempts, error_code, {SECONDS} from knowledge_source")
        assert row[:4] == ("pending", "queued", attempt, "FETCH_TIMEOUT")
        pauses.append(row[4])
        again(tables)
    # Doubled each time, with a jitter of less than that between one and the next but one.
    assert all(7 * 2**n < pause < 16 * 2**n for n, pause in enumerate(pauses))
    assert all(later > earlier for earlier, later in pairwise(pauses))
    await Stage(ledger).run(work, raising(RetryLater(Code.FETCH_TIMEOUT, "slow")))
    assert tables.row("select status, stage, error_code, due_at from knowledge_source") == (
        "failed",
        None,
        "FETCH_TIMEOUT",
        None,
    )
    assert tables.rows("select type, data ->> 'reason' from source_event") == [("kb.source.failed.v1", "slow")]


async def test_other_side_is_not_asked_before_it_wants_to_be(ledger: Ledger, tables: Tables) -> None:
    for _ in range(20):
        work = in_flight(tables)
        await Stage(ledger).run(work, raising(RetryLater(Code.RATE_LIMITED, "", after=100.0)))
    (least,) = tables.row(f"select min({SECONDS}) from knowledge_source")
    assert least > 99


async def test_wait_for_a_turn_uses_up_no_attempt(ledger: Ledger, tables: Tables) -> None:
    work = in_flight(tables)
    for _ in range(10):
        await Stage(ledger).run(work, raising(RetryLater(Code.RATE_LIMITED, "busy", counted=False)))
        assert tables.row("select status, attempts from knowledge_source") == ("pending", 0)
        again(tables)


async def test_refusal_fails_at_once_and_is_told(ledger: Ledger, tables: Tables) -> None:
    work = in_flight(tables)
    for _ in range(2):
        await Stage(ledger).run(work, raising(SourceRefused(Code.NO_TEXT, "a scan\0")))
    assert tables.row("select status, error_code, error_reason from knowledge_source") == (
        "failed",
        "NO_TEXT",
        "a scan",
    )
    assert tables.rows("select data ->> 'code' from source_event") == [("NO_TEXT",)]


async def test_dependency_that_is_down_uses_up_nothing(ledger: Ledger, tables: Tables) -> None:
    work = in_flight(tables)
    with pytest.raises(DependencyDown):
        await Stage(ledger).run(work, raising(DependencyDown(Code.BLOB_STORE_DOWN, "")))
    assert tables.row("select status, attempts, lapses from knowledge_source") == ("ingesting", 0, 0)


@pytest.mark.parametrize("columns", ["revision = revision + 1", "deleted_at = now()", "status = 'pending'"])
async def test_work_that_is_not_wanted_any_more_is_dropped(ledger: Ledger, tables: Tables, columns: str) -> None:
    work = in_flight(tables)
    tables.rows(f"update knowledge_source set {columns}")
    before = tables.row("select * from knowledge_source")
    await Stage(ledger).run(work, raising(AssertionError("it was done all the same")))
    await ledger.fail(work, Code.BROKEN, "")
    await ledger.retry(work, RetryLater(Code.FETCH_FAILED, ""))
    assert tables.row("select * from knowledge_source") == before
    assert tables.rows("select from source_event") == []


async def test_failed_refresh_leaves_the_live_revision(postgres: Postgres, tables: Tables) -> None:
    rooms = Rooms(postgres)
    await rooms.store.register()
    organization = uuid4()
    wish = SourceSubmitted(organization_id=organization, external_id="a", kind="text", text="one\n\ntwo")
    await rooms.deliver(wish, time=1)
    await rooms.settle()
    tables.rows("update knowledge_base set time_to_live = '1 hour'")
    await rooms.deliver(wish.model_copy(update={"text": ""}), time=2)
    await rooms.settle()
    row = tables.row(f"select status, error_code, revision, live_revision, {SECONDS} from knowledge_source")
    assert row[:4] == ("failed", "NO_TEXT", 2, 1)
    assert 3500 < row[4] <= 3600
    assert tables.rows("select text from chunk order by text") == [("one",), ("two",)]
    told = tables.rows("select data -> 'live_revision' from source_event where type = 'kb.source.failed.v1'")
    assert told == [(1,)]
    tables.rows("update knowledge_source set due_at = now()")
    await rooms.dispatcher.turn()
    (due,) = rooms.publisher.events
    assert (type(due), due.revision) == (SourceDue, 3)


async def test_progress_notes_the_stage_and_renews_a_lease_that_is_half_over(ledger: Ledger, tables: Tables) -> None:
    work = in_flight(tables)
    assert await ledger.progress(work)
    assert tables.row(f"select stage, round({SECONDS}) from knowledge_source")[0] == "chunking"
    before = tables.row("select xmin, due_at from knowledge_source")
    assert await ledger.progress(work)
    assert tables.row("select xmin, due_at from knowledge_source") == before  # nothing to write
    tables.rows("update knowledge_source set due_at = now() + interval '4 minutes'")
    assert await ledger.progress(work)
    assert tables.row(f"select {SECONDS} > 590 from knowledge_source") == (True,)


async def test_progress_of_many_at_once_tells_them_apart(ledger: Ledger, tables: Tables) -> None:
    wanted = [in_flight(tables) for _ in range(10)]
    stale = [work.model_copy(update={"revision": 7}) for work in wanted]
    answers = await asyncio.gather(
        *(ledger.progress(work) for pair in zip(wanted, stale, strict=True) for work in pair)
    )
    assert answers == [True, False] * 10


async def test_progress_does_not_wait_for_a_row_that_is_being_written(
    ledger: Ledger, postgres: Postgres, tables: Tables
) -> None:
    work = in_flight(tables)
    async with postgres.transaction() as connection, asyncio.timeout(5):
        await connection.execute("select 1 from knowledge_source where id = %s for update", (work.source_id,))
        assert await ledger.progress(work)


async def test_pause_is_noted_and_prolonged(ledger: Ledger, tables: Tables) -> None:
    for code in (Code.BLOB_STORE_DOWN, Code.BROKER_DOWN):
        await ledger.pause(DependencyDown(code, "away\0"))
    assert tables.rows("select stage, code, expires_at > now() from stage_pause") == [("chunking", "BROKER_DOWN", True)]
