from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.codes import Code
from schemas.events import (
    FileReference,
    SourceMetadataChanged,
    SourceRefreshRequested,
    SourceRemoved,
    SourceRetitled,
    SourceSubmitted,
)
from services.chassis.errors import EventRefused
from services.chassis.postgres import Postgres
from tests.support.migrated import Tables
from tests.support.rooms import Rooms
from tests.support.transport import received


@pytest.fixture
def rooms(postgres: Postgres, tables: Tables) -> Rooms:
    return Rooms(postgres)


@pytest.fixture
def organization() -> UUID:
    return uuid4()


def text(organization: UUID, body: str = "one", **fields: Any) -> SourceSubmitted:
    return SourceSubmitted(organization_id=organization, **{"external_id": "a", "kind": "text", "text": body} | fields)


def named(kind: type, organization: UUID, **fields: Any) -> Any:
    return kind(organization_id=organization, **{"external_id": "a"} | fields)


async def test_event_taken_twice_changes_nothing(rooms: Rooms, tables: Tables, organization: UUID) -> None:
    for _ in range(3):
        await rooms.deliver(text(organization), id="same")
    assert tables.row("select revision from knowledge_source") == (1,)
    assert tables.row("select count(*) from taken_event") == (1,)


async def test_same_event_id_of_another_publisher_is_another_event(
    rooms: Rooms, tables: Tables, organization: UUID
) -> None:
    await rooms.deliver(text(organization), id="same", source="/one")
    await rooms.deliver(text(organization), id="same", source="/two")
    assert tables.row("select revision from knowledge_source") == (2,)


async def test_refresh_that_overtook_an_older_one_stays(rooms: Rooms, tables: Tables, organization: UUID) -> None:
    await rooms.deliver(text(organization), time=1)
    await rooms.deliver(named(SourceRefreshRequested, organization), time=3)
    await rooms.deliver(named(SourceRefreshRequested, organization), time=2)
    assert tables.row("select revision from knowledge_source") == (2,)


async def test_text_of_a_submit_that_a_refresh_overtook_is_not_lost(
    rooms: Rooms, tables: Tables, organization: UUID
) -> None:
    await rooms.deliver(text(organization, "old"), time=1)
    await rooms.deliver(named(SourceRefreshRequested, organization), time=3)
    await rooms.deliver(text(organization, "new"), time=2)
    await rooms.store.register()
    await rooms.settle()
    assert tables.rows("select text from chunk") == [("new",)]


async def test_removal_of_a_source_never_seen_keeps_an_older_submit_out(
    rooms: Rooms, tables: Tables, organization: UUID
) -> None:
    await rooms.deliver(named(SourceRemoved, organization), time=2)
    await rooms.deliver(text(organization), time=1)
    assert tables.row("select status, deleted_at is null, due_at from knowledge_source") == ("deleted", False, None)
    await rooms.deliver(text(organization), time=3)
    assert tables.row("select status, deleted_at is null, revision from knowledge_source") == ("pending", True, 2)


async def test_submit_that_two_removals_overtook_stays_out(rooms: Rooms, tables: Tables, organization: UUID) -> None:
    for time in (1, 3):
        await rooms.deliver(named(SourceRemoved, organization), time=time)
    await rooms.deliver(text(organization), time=2)
    await rooms.settle()
    assert tables.row("select status, deleted_at is null from knowledge_source") == ("deleted", False)


async def test_unknown_knowledge_base_is_refused(rooms: Rooms, tables: Tables, organization: UUID) -> None:
    with pytest.raises(EventRefused) as refusal:
        await rooms.deliver(text(organization, knowledge_base_id=uuid4()), id="first")
    assert refusal.value.code == Code.NOT_FOUND
    assert tables.row("select count(*) from taken_event") == (0,)


async def test_knowledge_base_of_another_organization_is_unknown(
    rooms: Rooms, tables: Tables, organization: UUID
) -> None:
    await rooms.deliver(text(organization))
    (base,) = tables.row("select id from knowledge_base")
    with pytest.raises(EventRefused) as refusal:
        await rooms.deliver(text(uuid4(), knowledge_base_id=base))
    assert refusal.value.code == Code.NOT_FOUND


@pytest.mark.parametrize("kind", [SourceRefreshRequested, SourceMetadataChanged])
async def test_wish_about_a_source_never_there_can_be_replayed_once_it_is(
    rooms: Rooms, tables: Tables, organization: UUID, kind: type
) -> None:
    fields = {"title": "New"} if kind is SourceMetadataChanged else {}
    early = received(named(kind, organization, **fields), id="early", time=2)
    with pytest.raises(EventRefused) as refusal:
        await rooms.handle(early)
    assert refusal.value.code == Code.NOT_FOUND
    await rooms.deliver(text(organization, title="Old"), time=1)
    await rooms.handle(early)  # from the dead-letter topic
    title, revision = tables.row("select title, revision from knowledge_source")
    assert (title, revision) == (("New", 1) if fields else ("Old", 2))


async def test_refresh_older_than_the_removal_is_taken_without_effect(
    rooms: Rooms, tables: Tables, organization: UUID
) -> None:
    await rooms.deliver(text(organization), time=1)
    await rooms.deliver(named(SourceRemoved, organization), time=3)
    await rooms.deliver(named(SourceRefreshRequested, organization), time=2)
    await rooms.deliver(named(SourceMetadataChanged, organization, title="x"), time=2)
    assert tables.row("select revision, deleted_at is null from knowledge_source") == (2, False)


NUL_EVERYWHERE: dict[str, Any] = {
    "title": "a\0b",
    "description": "\0",
    "metadata": {"k\0": ["v\0", {"deep": "\0x"}], "literal": "C:\\u0000", "slash": "\\\\u0000\0"},
    "media_type": "text/plain\0",
}


async def test_nul_is_removed_wherever_it_stands(rooms: Rooms, tables: Tables, organization: UUID) -> None:
    await rooms.deliver(text(organization, "x\0y", external_id="n\0", **NUL_EVERYWHERE), id="e\0", source="s\0")
    row = tables.row("select title, description, metadata, external_id, media_type from knowledge_source")
    metadata = {"k": ["v", {"deep": "x"}], "literal": "C:\\u0000", "slash": "\\\\u0000"}
    assert row == ("ab", None, metadata, "n", "text/plain")
    await rooms.deliver(named(SourceMetadataChanged, organization, external_id="n\0", title="c\0"), time=1)
    await rooms.deliver(named(SourceRemoved, organization, external_id="n\0"), time=2)


async def test_nul_in_a_file_reference(rooms: Rooms, tables: Tables, organization: UUID) -> None:
    file = FileReference(
        blob_key=f"organizations/{organization}/u/a", filename="a\0.pdf", media_type="application/pdf\0"
    )
    await rooms.deliver(text(organization, kind="file", text=None, file=file))
    assert tables.row("select filename, media_type from knowledge_source") == ("a.pdf", "application/pdf")


async def test_file_of_another_organization_is_refused(rooms: Rooms, tables: Tables, organization: UUID) -> None:
    file = FileReference(blob_key=f"organizations/{uuid4()}/u/a", filename="a")
    with pytest.raises(EventRefused) as refusal:
        await rooms.deliver(text(organization, kind="file", text=None, file=file))
    assert refusal.value.code == Code.EVENT_INVALID


async def test_archive_is_told_once_and_undone(rooms: Rooms, tables: Tables, organization: UUID) -> None:
    await rooms.deliver(text(organization))
    for number, archived in enumerate((True, True, False), 1):
        for _ in range(2):
            event = named(SourceMetadataChanged, organization, archived=archived)
            await rooms.deliver(event, id=str(number), time=number)
    told = tables.rows("select data -> 'archived' from source_event order by occurred_at")
    assert told == [(True,), (True,), (False,)]
    assert tables.row("select archived_at, revision from knowledge_source") == (None, 1)


async def test_retitle_is_published_again_until_the_words_follow(
    rooms: Rooms, tables: Tables, organization: UUID
) -> None:
    await rooms.store.register()
    await rooms.deliver(text(organization, title="Old"))
    await rooms.settle()
    change = received(named(SourceMetadataChanged, organization, title="New"), id="change", time=1)
    for _ in range(2):  # the first delivery died after the commit
        rooms.publisher.clear()
        await rooms.handle(change)
        assert [type(event) for event in rooms.publisher.events] == [SourceRetitled]
    await rooms.settle()
    await rooms.handle(change)
    assert rooms.publisher.events == []


async def test_source_added_again_after_its_removal_is_as_new(rooms: Rooms, tables: Tables, organization: UUID) -> None:
    await rooms.deliver(text(organization), time=1)
    await rooms.deliver(named(SourceMetadataChanged, organization, archived=True), time=2)
    await rooms.deliver(named(SourceRemoved, organization), time=3)
    await rooms.deliver(text(organization), time=4)
    assert tables.row("select archived_at, deleted_at from knowledge_source") == (None, None)


async def test_removed_text_is_not_seen_again_when_the_source_comes_back(
    rooms: Rooms, tables: Tables, organization: UUID
) -> None:
    await rooms.store.register()
    await rooms.deliver(text(organization, "secret\n\nkept"), time=1)
    await rooms.settle()
    await rooms.deliver(named(SourceRemoved, organization), time=2)
    await rooms.deliver(text(organization, "fresh\n\nkept"), time=3)
    assert tables.row("select live_revision, deleted_at from knowledge_source") == (None, None)
    await rooms.settle()
    assert tables.rows("select text from chunk order by text") == [("fresh",), ("kept",)]
    assert tables.row("select live_revision, status from knowledge_source") == (3, "ready")


async def test_the_language_follows_the_order_of_wishes(rooms: Rooms, tables: Tables, organization: UUID) -> None:
    await rooms.deliver(text(organization, language="de"), time=2)
    await rooms.deliver(text(organization, language="fr"), time=1)
    assert tables.row("select language from knowledge_source") == ("de",)
    await rooms.deliver(text(organization), time=3)
    assert tables.row("select language from knowledge_source") == (None,)
