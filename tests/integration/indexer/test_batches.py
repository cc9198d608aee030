"""Revisions that come in batches."""

from __future__ import annotations

import asyncio

import pytest

from schemas.recipes import cutting
from services.indexer.revisions import Revision
from tests.integration.indexer.sources import InHand
from tests.support.transport import received

TEXTS = [f"text {number}" for number in range(10)]
STAGED = "select batch from revision_batch where source_id = %s order by batch"


async def test_live_with_the_last_batch_in_whatever_order(source: InHand) -> None:
    batches = source.batches(TEXTS, size=3)
    for batch in (batches[2], batches[0], batches[2], batches[3]):
        await source.index(batch)
        assert source.state() == ("ingesting", 1, None)
        assert source.texts == []
    await source.index(batches[1])
    assert source.state() == ("ready", 1, 1)
    assert source.texts == TEXTS
    assert source.tables.rows(STAGED, source.id) == []


async def test_batches_of_two_bodies_under_one_revision_do_not_mix(source: InHand) -> None:
    """A page changed between two fetches for one revision."""
    old, new = source.batches([f"old {n}" for n in range(6)], size=3), source.batches(TEXTS[:6], size=3)
    await source.index(old[0], new[1])
    assert source.texts == []
    await source.index(new[0])
    assert source.texts == TEXTS[:6]


async def test_batches_of_two_ways_of_cutting_do_not_mix(source: InHand) -> None:
    """The chunker was replaced, or the preset changed, between two deliveries of one revision."""
    old, new = source.batches(TEXTS, size=3), source.batches(TEXTS[:8], size=4, recipe="2/default")
    body = {"body_hash": old[0].body_hash}
    await source.index(old[0], old[1])
    await source.index(new[0].model_copy(update=body))
    assert source.texts == []
    await source.index(new[1].model_copy(update=body))
    assert source.texts == TEXTS[:8]
    assert source.state("recipe")[0].startswith("2/default/")


async def test_batches_of_two_spaces_do_not_mix(source: InHand) -> None:
    """The embedder was started anew with another model in the middle of a revision."""
    source.tables.rows("select register_space('other/model@8', 8)")
    first, last = source.batches(TEXTS, size=5)
    other = [batch.model_copy(update={"space": "other/model@8"}) for batch in (first, last)]
    await source.index(first)
    await source.index(other[1])
    assert source.texts == []
    await source.index(other[0])
    assert source.state() == ("ready", 1, 1)
    assert source.tables.row("select count(*) from chunk_vector_1 where source_id = %s", source.id) == (0,)
    assert source.state("recipe") == (f"{cutting('default')}/other/model@8",)


async def test_wish_between_staging_and_cut_over_wins(source: InHand) -> None:
    await source.index(*source.batches(["live"]))
    batches = tuple(source.batches(TEXTS, size=5, revision=source.wish()))
    await source.index(batches[0])
    source.wish()
    assert not await source.rooms.cut_over.make_live(Revision(batches))
    assert source.texts == ["live"]
    assert source.state() == ("ingesting", 3, 1)


async def test_wish_that_holds_the_row_when_the_cut_over_comes_wins(source: InHand) -> None:
    await source.index(*source.batches(["live"]))
    revision = Revision(tuple(source.batches(TEXTS, revision=source.wish())))
    async with source.rooms.postgres.transaction() as connection:
        await connection.execute(
            "update knowledge_source set revision = revision + 1, deleted_at = now(), status = 'pending' where id = %s",
            (source.id,),
        )
        cutting_over = asyncio.create_task(source.rooms.cut_over.make_live(revision))
        waits = (
            "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%%for update of s%%'"
        )
        async with asyncio.timeout(10):
            while source.tables.row(waits) == (0,):
                await asyncio.sleep(0.01)
    assert not await cutting_over
    assert source.texts == ["live"]


@pytest.mark.parametrize("wish", [{}, {"deleted_at": "2026-01-01", "status": "pending"}])
async def test_batch_that_passed_its_fence_before_a_newer_wish_is_not_kept(
    source: InHand, wish: dict[str, object]
) -> None:
    batches = source.batches(TEXTS, size=5)
    source.wish(**wish)
    await source.index(batches[0])
    assert source.tables.rows(STAGED, source.id) == []


async def test_progress_ends_a_row_of_lapses(source: InHand) -> None:
    source.tables.rows("update knowledge_source set lapses = 2 where id = %s", source.id)
    await source.index(source.batches(TEXTS, size=5)[0])
    assert source.state("lapses") == (0,)


async def test_batches_of_an_older_revision_are_gone_with_the_next(source: InHand) -> None:
    await source.index(source.batches(TEXTS, size=5)[0])
    await source.index(*source.batches(["short"], revision=source.wish()))
    assert source.tables.rows(STAGED, source.id) == []
    assert source.texts == ["short"]


async def test_same_last_batch_from_two_consumers(source: InHand) -> None:
    batches = source.batches(TEXTS, size=5)
    await source.index(batches[0])
    await asyncio.gather(*(source.rooms.indexing.index(received(batches[1])) for _ in range(3)))
    assert source.texts == TEXTS
    assert source.state() == ("ready", 1, 1)
