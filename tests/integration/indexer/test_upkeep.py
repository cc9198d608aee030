"""Statistics of words are kept for organizations that are large enough, and follow what changes."""

from __future__ import annotations

from uuid import uuid4

from services.chassis.postgres import Postgres
from services.indexer.settings import UpkeepSettings
from services.indexer.upkeep import Upkeep
from tests.integration.indexer.sources import InHand
from tests.support.migrated import Tables
from tests.support.rooms import Rooms

TEXTS = [f"whale number {number} swims" for number in range(30)]


async def test_a_large_organization_gets_statistics_and_a_small_one_none(
    tables: Tables, rooms: Rooms, postgres: Postgres
) -> None:
    large = await InHand.make(tables, rooms, uuid4())
    await large.index(*large.batches(TEXTS))
    small = await InHand.make(tables, rooms, uuid4())
    await small.index(*small.batches(["one whale"]))
    upkeep = Upkeep(postgres, UpkeepSettings(least_chunks=20, patience=0))
    assert await upkeep.turn() == 1
    assert tables.rows("select organization_id, chunks from word_statistics") == [(large.organization, 30)]
    assert tables.rows("select chunks from word_frequency where lexeme = 'whale'") == [(30,)]
    assert await upkeep.turn() == 0, "nothing has changed since"


async def test_statistics_follow_a_change_and_small_changes_wait(
    tables: Tables, rooms: Rooms, postgres: Postgres
) -> None:
    source = await InHand.make(tables, rooms, uuid4())
    await source.index(*source.batches(TEXTS))
    upkeep = Upkeep(postgres, UpkeepSettings(least_chunks=20, patience=31))
    await upkeep.turn()
    revision = source.wish()
    await source.index(*source.batches([*TEXTS, "a single one more"], revision=revision))
    assert await upkeep.turn() == 0
    revision = source.wish()
    await source.index(*source.batches(TEXTS[:25], revision=revision))
    assert await upkeep.turn() == 1
    assert tables.rows("select chunks from word_statistics") == [(25,)]
