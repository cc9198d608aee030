from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.events import SourceDue, SourceMetadataChanged, SourceRemovalDue, SourceRemoved, SourceSubmitted
from services.chassis.postgres import Postgres
from services.fetcher.settings import DispatchSettings
from services.ledger.settings import LedgerSettings
from tests.support.migrated import Tables
from tests.support.queue import fill
from tests.support.rooms import Rooms

LEDGER = LedgerSettings(lapses=2)


def rooms_of(postgres: Postgres, each: int = 4, total: int = 10) -> Rooms:
    return Rooms(postgres, ledger=LEDGER, dispatch=DispatchSettings(in_flight=each, in_flight_total=total))


def given(rooms: Rooms) -> list[Any]:
    return rooms.publisher.clear()


async def test_one_source_of_another_organization_goes_out_in_the_first_turn(
    postgres: Postgres, tables: Tables
) -> None:
    crowded, lonely = UUID(int=1), UUID(int=2)
    fill(tables, crowded, 10_000)
    fill(tables, lonely, 1, name="last")
    rooms = rooms_of(postgres)
    await rooms.dispatcher.turn()
    assert [event.organization_id for event in given(rooms)].count(lonely) == 1


async def test_organizations_take_turns_when_there_is_little_room(postgres: Postgres, tables: Tables) -> None:
    organizations = [UUID(int=number) for number in range(1, 6)]
    for organization in organizations:
        fill(tables, organization, 20)
    rooms = rooms_of(postgres, each=4, total=5)
    await rooms.dispatcher.turn()
    assert sorted(event.organization_id for event in given(rooms)) == organizations


async def test_no_more_in_flight_than_may_be(postgres: Postgres, tables: Tables) -> None:
    for number in range(1, 5):
        fill(tables, UUID(int=number), 20)
    rooms = rooms_of(postgres, each=4, total=10)
    for _ in range(3):
        await rooms.dispatcher.turn()
    in_flight = tables.rows("select count(*) from knowledge_source where status = 'ingesting' group by organization_id")
    assert sum(count for (count,) in in_flight) == 10
    assert max(in_flight) <= (4,)


async def test_room_of_an_organization_is_what_is_left_of_its_share(postgres: Postgres, tables: Tables) -> None:
    fill(tables, UUID(int=1), 20)
    rooms = rooms_of(postgres, each=4, total=100)
    await rooms.dispatcher.turn()
    done = given(rooms)[0].source_id
    tables.rows("update knowledge_source set status = 'ready', due_at = null where id = %s", done)
    await rooms.dispatcher.turn()
    assert len(given(rooms)) == 1
    await rooms.dispatcher.turn()
    assert given(rooms) == []


async def test_dispatchers_side_by_side_keep_to_the_share_and_give_nothing_twice(
    postgres: Postgres, tables: Tables
) -> None:
    for number in range(1, 5):
        fill(tables, UUID(int=number), 30)
    several = [rooms_of(postgres, each=4, total=10) for _ in range(5)]
    for _ in range(4):
        await asyncio.gather(*(rooms.dispatcher.turn() for rooms in several))
    ids = [event.source_id for rooms in several for event in given(rooms)]
    assert len(ids) == len(set(ids)) == 10
    per_organization = tables.rows(
        "select count(*) from knowledge_source where status = 'ingesting' group by organization_id"
    )
    assert max(per_organization) <= (4,)


async def test_priority_first_then_age(postgres: Postgres, tables: Tables) -> None:
    organization = uuid4()
    for priority, age in ((3, 9), (1, 1), (1, 5), (0, 0), (2, 7)):
        fill(tables, organization, 1, name=f"{priority} {age}", priority=priority, age=age)
    rooms = rooms_of(postgres, each=1)
    names = []
    for _ in range(5):
        await rooms.dispatcher.turn()
        (event,) = given(rooms)
        names += tables.row("select external_id from knowledge_source where id = %s", event.source_id)
        tables.rows("update knowledge_source set status = 'ready', due_at = null where id = %s", event.source_id)
    assert names == ["0 0 1", "1 5 1", "1 1 1", "2 7 1", "3 9 1"]


def run_out(tables: Tables) -> None:
    """The leases of all that is in flight."""
    tables.rows("update knowledge_source set due_at = now() where status = 'ingesting'")


async def test_lapsed_lease_is_given_out_again_until_there_were_too_many(postgres: Postgres, tables: Tables) -> None:
    fill(tables, uuid4(), 1)
    rooms = rooms_of(postgres)
    for lapses in range(3):
        await rooms.dispatcher.turn()
        assert [event.revision for event in given(rooms)] == [1]
        assert tables.row("select status, lapses from knowledge_source") == ("ingesting", lapses)
        await rooms.dispatcher.turn()
        assert given(rooms) == []  # the lease holds
        run_out(tables)
    await rooms.dispatcher.turn()
    assert given(rooms) == []
    assert tables.row("select status, error_code, due_at from knowledge_source") == ("failed", "LEASE_LOST", None)
    assert tables.rows("select type, data ->> 'code' from source_event") == [("kb.source.failed.v1", "LEASE_LOST")]


async def test_lease_lost_does_not_end_refreshes_by_schedule(postgres: Postgres, tables: Tables) -> None:
    fill(tables, uuid4(), 1, lapses=3, status="failed", live_revision=1)
    rooms = rooms_of(postgres)
    await rooms.dispatcher.turn()
    assert [event.revision for event in given(rooms)] == [2]
    assert tables.row("select status, lapses, live_revision from knowledge_source") == ("ingesting", 0, 1)


async def test_removal_is_given_out_however_often_its_lease_ran_out(postgres: Postgres, tables: Tables) -> None:
    rooms = rooms_of(postgres)
    organization = uuid4()
    await rooms.deliver(SourceSubmitted(organization_id=organization, external_id="a", kind="text", text="x"), time=1)
    await rooms.deliver(SourceRemoved(organization_id=organization, external_id="a"), time=2)
    for _ in range(5):
        await rooms.dispatcher.turn()
        assert [type(event) for event in given(rooms)] == [SourceRemovalDue]
        run_out(tables)


@pytest.mark.parametrize(
    ("paused", "at_work", "is_held"),
    [("embedding", "fetching", True), ("embedding", "embedding", True), ("embedding", "indexing", False)],
)
async def test_leases_are_held_while_a_stage_before_them_waits(
    postgres: Postgres, tables: Tables, paused: str, at_work: str, is_held: bool
) -> None:
    fill(tables, uuid4(), 1, status="ingesting", stage=at_work, lapses=1)
    tables.rows(
        "insert into stage_pause (stage, instance, code, reason, expires_at) "
        "values (%s, 'i', 'PROVIDER_DOWN', '', now() + interval '1 minute')",
        paused,
    )
    rooms = rooms_of(postgres)
    await rooms.dispatcher.turn()
    assert (given(rooms) == []) is is_held
    lapses = 1 if is_held else 2
    assert tables.row("select lapses, due_at > now() from knowledge_source") == (lapses, True)


async def test_expired_note_of_a_pause_holds_nothing(postgres: Postgres, tables: Tables) -> None:
    fill(tables, uuid4(), 1, status="ingesting", stage="fetching")
    tables.rows(
        "insert into stage_pause (stage, instance, code, reason, expires_at) "
        "values ('indexing', 'i', 'POSTGRES_DOWN', '', now() - interval '1 second')"
    )
    rooms = rooms_of(postgres)
    await rooms.dispatcher.turn()
    assert len(given(rooms)) == 1


async def test_scheduled_refresh_begins_a_revision(postgres: Postgres, tables: Tables) -> None:
    organization = uuid4()
    rooms = rooms_of(postgres)
    await rooms.store.register()
    await rooms.deliver(SourceSubmitted(organization_id=organization, external_id="a", kind="text", text="x"))
    tables.rows("update knowledge_base set time_to_live = '1 hour'")
    await rooms.settle()
    assert tables.row(
        "select status, priority, due_at - last_fetched_at = interval '1 hour' from knowledge_source"
    ) == ("ready", 3, True)
    tables.rows("update knowledge_source set due_at = now()")
    await rooms.dispatcher.turn()
    (due,) = given(rooms)
    assert (type(due), due.revision, due.body_hash is not None) == (SourceDue, 2, True)


async def test_archived_sources_stay_in_and_come_out_when_they_are_back(postgres: Postgres, tables: Tables) -> None:
    organization = uuid4()
    rooms = rooms_of(postgres)
    await rooms.deliver(SourceSubmitted(organization_id=organization, external_id="a", kind="text", text="x"))
    change = {"organization_id": organization, "external_id": "a"}
    await rooms.deliver(SourceMetadataChanged(**change, archived=True), time=1)
    assert await rooms.dispatcher.turn() == DispatchSettings().poll
    assert given(rooms) == []
    await rooms.deliver(SourceMetadataChanged(**change, archived=False), time=2)
    await rooms.dispatcher.turn()
    assert len(given(rooms)) == 1


async def test_archived_source_can_be_removed(postgres: Postgres, tables: Tables) -> None:
    organization = uuid4()
    rooms = rooms_of(postgres)
    await rooms.store.register()
    await rooms.deliver(SourceSubmitted(organization_id=organization, external_id="a", kind="text", text="x"))
    await rooms.settle()
    await rooms.deliver(SourceMetadataChanged(organization_id=organization, external_id="a", archived=True), time=1)
    await rooms.deliver(SourceRemoved(organization_id=organization, external_id="a"), time=2)
    await rooms.settle()
    assert tables.row("select status from knowledge_source") == ("deleted",)
    assert tables.rows("select from chunk") == []
