from __future__ import annotations

import asyncio
from typing import Any

import pytest

from schemas.codes import Code
from schemas.events import SourceRemovalDue, SourceRetitled
from services.chassis.errors import EventRefused
from services.indexer.revisions import Revision
from tests.integration.indexer.sources import InHand
from tests.support.batches import embedded, vector_of
from tests.support.migrated import Tables
from tests.support.rooms import Rooms
from tests.support.transport import received

VERSIONS = "c.text, c.xmin, v.xmin, w.xmin, p.xmin"
TABLES = ("chunk", "chunk_vector_1", "chunk_words", "chunk_place")


def counted(source: InHand) -> list[int]:
    return [source.tables.row(f"select count(*) from {name} where source_id = %s", source.id)[0] for name in TABLES]


def written_together(source: InHand, since: int) -> list[int]:
    """Rows of each table that a transaction from `since` on has written."""
    query = "select count(*) from {} where source_id = %s and xmin::text::bigint >= %s"
    return [source.tables.row(query.format(name), source.id, since)[0] for name in TABLES]


def transaction_now(tables: Tables) -> int:
    return int(tables.row("select pg_current_xact_id()::text::bigint")[0])


async def test_chunks_that_stay_keep_their_rows_although_their_place_moves(source: InHand) -> None:
    await source.index(*source.batches(["one", "two", "three"]))
    before = {row[0]: row[1:] for row in source.rows(VERSIONS)}
    await source.index(*source.batches(["brand new", "one", "three", "two"], revision=source.wish()))
    after = {row[0]: row[1:] for row in source.rows(VERSIONS)}
    assert source.texts == ["brand new", "one", "three", "two"]
    assert [before[text][:3] == after[text][:3] for text in before] == [True, True, True]
    assert all(before[text][3] != after[text][3] for text in before)


async def test_place_that_stays_is_not_written(source: InHand) -> None:
    await source.index(*source.batches(["one", "two", "last"]))
    before = source.rows(VERSIONS)[:2]
    await source.index(*source.batches(["one", "two", "other"], revision=source.wish()))
    assert source.rows(VERSIONS)[:2] == before


async def test_one_changed_paragraph_of_many_writes_one_chunk(source: InHand) -> None:
    texts = [f"paragraph {number:03}" for number in range(400)]
    await source.index(*source.batches(texts, size=24))
    revision = source.wish()
    begin = transaction_now(source.tables)
    texts[200] = "paragraph 2oo"
    await source.index(*source.batches(texts, size=24, revision=revision))
    assert written_together(source, begin) == [1, 1, 1, 1]
    assert source.texts == texts
    assert counted(source) == [400] * 4


async def test_equal_texts_are_chunks_of_their_own(source: InHand) -> None:
    await source.index(*source.batches(["same", "same", "other", "same"]))
    assert source.texts == ["same", "same", "other", "same"]
    await source.index(*source.batches(["other", "same"], revision=source.wish()))
    assert source.texts == ["other", "same"]
    assert counted(source) == [2] * 4


async def test_retitle_writes_words_alone(source: InHand) -> None:
    await source.index(*source.batches(["one", "two"]))
    begin = transaction_now(source.tables)
    source.tables.rows("update knowledge_source set title = 'Zebra' where id = %s", source.id)
    event = SourceRetitled(organization_id=source.organization, source_id=source.id, revision=1)
    await source.rooms.indexing.retitle(event)
    assert written_together(source, begin) == [0, 0, 2, 0]
    query = "select count(*) from chunk_words where source_id = %s and words @@ 'zebra'"
    assert source.tables.row(query, source.id) == (2,)
    begin = transaction_now(source.tables)
    await source.rooms.indexing.retitle(event)
    assert written_together(source, begin) == [0, 0, 0, 0]


@pytest.mark.parametrize("changed", [{"title": "Zebra"}, {"description": "Zebra"}])
async def test_title_that_came_with_the_revision_reaches_the_chunks_that_stay(
    source: InHand, changed: dict[str, Any]
) -> None:
    await source.index(*source.batches(["one", "two"]))
    await source.index(*source.batches(["one", "three"], revision=source.wish(**changed)))
    query = "select count(*) from chunk_words where source_id = %s and words @@ 'zebra'"
    assert source.tables.row(query, source.id) == (2,)


async def test_title_found_in_the_document_reaches_the_chunks_that_stay(source: InHand) -> None:
    await source.index(*source.batches(["one", "two"], document_title="Lion"))
    await source.index(*source.batches(["one", "two"], document_title="Zebra", revision=source.wish()))
    query = "select count(*) from chunk_words where source_id = %s and words @@ 'zebra' and not words @@ 'lion'"
    assert source.tables.row(query, source.id) == (2,)


async def test_revisions_that_end_together_share_a_transaction(tables: Tables, rooms: Rooms) -> None:
    sources = [await InHand.make(tables, rooms) for _ in range(12)]
    await asyncio.gather(*(s.index(*s.batches([f"{s.id} {n}" for n in range(5)])) for s in sources))
    transactions = {s.rows("c.xmin")[0] for s in sources}
    assert len(transactions) < len(sources)
    assert all(len(s.texts) == 5 and s.state() == ("ready", 1, 1) for s in sources)


async def test_broken_revision_does_not_hurt_those_beside_it(tables: Tables, rooms: Rooms) -> None:
    sources = [await InHand.make(tables, rooms) for _ in range(6)]
    batches = [source.batches(["a", "b"])[0] for source in sources]
    batches[3] = batches[3].model_copy(update={"vectors": (vector_of("a"), "AAAA")})
    results = await asyncio.gather(
        *(source.index(batch) for source, batch in zip(sources, batches, strict=True)), return_exceptions=True
    )
    assert [isinstance(result, Exception) for result in results] == [number == 3 for number in range(6)]
    assert [source.state()[0] for source in sources] == ["ready"] * 3 + ["ingesting"] + ["ready"] * 2
    assert counted(sources[3]) == [0] * 4


async def test_unknown_space_is_the_fault_of_its_own_revision(tables: Tables, rooms: Rooms) -> None:
    sources = [await InHand.make(tables, rooms) for _ in range(6)]
    batches = [source.batches(["a"])[0] for source in sources]
    batches[3] = batches[3].model_copy(update={"space": "nobody/registered@8"})
    results = await asyncio.gather(
        *(source.index(batch) for source, batch in zip(sources, batches, strict=True)), return_exceptions=True
    )
    assert isinstance(results[3], EventRefused)
    assert results[3].code == Code.WRONG_DIMENSIONS
    assert [source.state()[0] for source in sources] == ["ready"] * 3 + ["ingesting"] + ["ready"] * 2


async def test_same_revision_delivered_twice_at_once_is_written_once(source: InHand) -> None:
    (batch,) = source.batches(["one", "two"])
    made = await asyncio.gather(*(source.rooms.cut_over.make_live(Revision((batch,))) for _ in range(4)))
    assert sorted(made) == [False, False, False, True]
    assert counted(source) == [2] * 4
    query = "select count(*) from source_event where source_id = %s"
    assert source.tables.row(query, source.id) == (1,)


async def test_removal_takes_everything(source: InHand) -> None:
    await source.index(*source.batches(["one", "two"]))
    revision = source.wish(deleted_at="2026-01-01", status="pending")
    stale = SourceRemovalDue(organization_id=source.organization, source_id=source.id, revision=revision - 1)
    await source.rooms.indexing.remove(stale)
    assert counted(source) == [2] * 4
    removal = stale.model_copy(update={"revision": revision})
    for _ in range(2):
        await source.rooms.deliver(received(removal))
    assert counted(source) == [0] * 4
    assert source.state() == ("deleted", revision, None)
    query = "select type from source_event where source_id = %s order by occurred_at"
    told = source.tables.rows(query, source.id)
    assert told == [("kb.source.indexed.v1",), ("kb.source.deleted.v1",)]


async def test_source_that_came_back_before_its_removal_was_done(source: InHand) -> None:
    await source.index(*source.batches(["old", "kept"]))
    revision = source.wish(live_revision=None)
    await source.index(*source.batches(["kept", "new"], revision=revision))
    assert source.texts == ["kept", "new"]
    assert counted(source) == [2] * 4


async def test_two_organizations_may_choose_the_same_id_for_a_source(tables: Tables, rooms: Rooms) -> None:
    mine = await InHand.make(tables, rooms)
    theirs = await InHand.make(tables, rooms)
    tables.rows("update knowledge_source set id = %s where id = %s", mine.id, theirs.id)
    await theirs.index(*embedded(theirs.organization, mine.id, ["one", "two"]))
    tables.rows("update knowledge_source set revision = 2, status = 'ingesting' where id = %s", mine.id)
    together = [
        embedded(mine.organization, mine.id, ["one", "two"], revision=2),
        embedded(theirs.organization, mine.id, ["one", "three"], revision=2),
    ]
    await asyncio.gather(*(rooms.cut_over.make_live(Revision(tuple(batches))) for batches in together))
    for organization, texts in ((mine.organization, ["one", "two"]), (theirs.organization, ["one", "three"])):
        for table in ("chunk", "chunk_place", "chunk_words", "chunk_vector_1"):
            assert tables.row(f"select count(*) from {table} where organization_id = %s", organization) == (2,), table
        found = tables.rows("select text from chunk where organization_id = %s order by text", organization)
        assert [text for (text,) in found] == sorted(texts)


async def test_many_removals_at_once_need_no_second_connection_each(tables: Tables, rooms: Rooms) -> None:
    sources = [await InHand.make(tables, rooms) for _ in range(12)]
    for source in sources:
        await source.index(*source.batches(["one"]))
    events = [
        SourceRemovalDue(
            organization_id=source.organization,
            source_id=source.id,
            revision=source.wish(deleted_at="2026-01-01", stage="indexing"),
        )
        for source in sources
    ]
    async with asyncio.timeout(8):  # below the time that a connection is waited for
        await asyncio.gather(*(rooms.indexing.remove(event) for event in events))
    assert tables.rows("select count(*) from chunk") == [(0,)]
