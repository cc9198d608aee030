"""Rows that no event can carry do not stand in the way of others."""

from __future__ import annotations

from uuid import uuid4

import pytest

from schemas.events import SourceSubmitted
from services.chassis.postgres import Postgres
from tests.support.migrated import Tables
from tests.support.rooms import Rooms
from tests.support.transport import received


@pytest.fixture
def rooms(postgres: Postgres) -> Rooms:
    return Rooms(postgres)


async def test_names_of_nothing_but_nul_are_no_names(rooms: Rooms, tables: Tables) -> None:
    wish = SourceSubmitted(organization_id=uuid4(), external_id="\0", kind="text", text="a", media_type="\0")
    await rooms.intake.submit(received(wish))
    assert tables.rows("select external_id, media_type from knowledge_source") == [(None, "text/plain")]


async def test_a_row_that_is_broken_fails_and_the_others_go_on(rooms: Rooms, tables: Tables) -> None:
    organization = uuid4()
    for name in ("a", "b"):
        wish = SourceSubmitted(organization_id=organization, external_id=name, kind="text", text=name)
        await rooms.intake.submit(received(wish))
    tables.rows("update knowledge_source set media_type = '' where external_id = 'a'")
    await rooms.dispatcher.turn()
    found = dict(tables.rows("select external_id, error_code from knowledge_source"))
    assert found == {"a": "EVENT_INVALID", "b": None}
    tables.rows("update source_event set data = '{}'")
    tables.rows(
        "insert into source_event (organization_id, id, source_id, revision, type, data) select organization_id, "
        "gen_random_uuid(), id, 1, 'kb.source.deleted.v1', jsonb_build_object('organization_id', organization_id, "
        "'source_id', id, 'knowledge_base_id', knowledge_base_id, 'revision', 1) from knowledge_source"
    )
    await rooms.announcer.turn()
    assert tables.rows("select count(*) from source_event where published_at is null") == [(0,)]
