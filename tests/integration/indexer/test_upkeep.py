"""Statistics of words are kept for organizations that are large enough, and follow what changes."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from uuid import UUID, uuid4

import pytest

from services.chassis.postgres import Postgres
from services.indexer.settings import UpkeepSettings
from services.indexer.upkeep import Upkeep
from services.indexer.vector_indexes import VectorIndexes
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


def covered(tables: Tables) -> int:
    return int(tables.row("select count(*) from knowledge_source where kept_revision = live_revision")[0])


@pytest.fixture
def small_lists(tables: Tables) -> Iterator[None]:
    """Words of more than ten chunks have a list."""
    (before,) = tables.row("select pg_get_functiondef('upkeep_sizes'::regproc)")
    tables.rows(
        "create or replace function upkeep_sizes() returns upkeep_bounds language sql immutable "
        "return row(5, 10, 20, 8)::upkeep_bounds"
    )
    yield
    tables.rows(before)


BEYOND_THE_REST = """
select count(*) from word_top t
join word_statistics s using (organization_id)
join chunk_words w on w.organization_id = t.organization_id and w.words @@ lexeme_query(t.lexeme)
cross join lateral (select cardinality(l.positions) as times from unnest(w.words) l where l.lexeme = t.lexeme) l
where w.chunk_id <> all(t.chunks) and impact(l.times, length(w.words), s.average_length) > t.rest + 1e-6
"""


@pytest.mark.usefixtures("small_lists")
async def test_what_is_not_listed_counts_no_more_than_the_list_says(
    tables: Tables, rooms: Rooms, postgres: Postgres
) -> None:
    organization = uuid4()
    chance = random.Random(3)
    words = [f"{first}{last}" for first in ("lum", "kar", "dov", "ziq") for last in ("ast", "ork", "ump")]
    upkeep = Upkeep(postgres, UpkeepSettings(least_chunks=60, patience=0))
    complete = "select count(*) from word_top where rest = 0"
    for number in range(5):
        source = await InHand.make(tables, rooms, organization)
        texts = [
            " ".join(chance.choices(words, range(1, 13), k=chance.randint(2, 12))) + f" {number}-{part}"
            for part in range(20 if number else 60)
        ]
        await source.index(*source.batches(texts))
        assert await upkeep.turn() == 1
        assert tables.row(BEYOND_THE_REST) == (0,)
        if number == 0:
            assert tables.row(complete) > (0,)
            assert tables.row("select count(*) from word_top where rest > 0") > (0,)


@pytest.mark.usefixtures("small_lists")
async def test_what_comes_later_is_added_without_counting_all_again(
    tables: Tables, rooms: Rooms, postgres: Postgres
) -> None:
    organization = uuid4()
    for number in range(10):
        source = await InHand.make(tables, rooms, organization)
        await source.index(*source.batches([f"whale {number} {part}" for part in range(30)]))
    upkeep = Upkeep(postgres, UpkeepSettings(least_chunks=100, patience=0))
    await upkeep.turn()
    counted = tables.row("select refreshed_at from word_statistics")
    late = await InHand.make(tables, rooms, organization)
    await late.index(*late.batches(["whale " * 50, "one more"]))
    assert covered(tables) == 10
    assert await upkeep.turn() == 1
    assert covered(tables) == 11
    assert tables.row("select refreshed_at from word_statistics") == counted
    assert tables.row("select sources[1] from word_top where lexeme = 'whale'") == (late.id,)
    assert tables.row("select count(*) from chunk_signs_1 where source_id = %s", late.id) == (2,)
    revision = late.wish()
    await late.index(*late.batches(["one more"], revision=revision))
    assert covered(tables) == 10
    assert tables.row("select count(*) from chunk_signs_1 where source_id = %s", late.id) == (1,)


async def test_a_large_organization_has_an_index_until_it_is_small_again(
    tables: Tables, rooms: Rooms, postgres: Postgres
) -> None:
    source = await InHand.make(tables, rooms, uuid4())
    await source.index(*source.batches([f"whale {part}" for part in range(60)]))
    upkeep = Upkeep(postgres, UpkeepSettings(least_chunks=40, patience=0, index_chunks=50))
    await upkeep.turn()
    index = "select indisvalid from pg_index where indexrelid::regclass::text like 'chunk_vector_1_hnsw_%%'"
    assert tables.rows(index) == [(True,)]
    revision = source.wish()
    await source.index(*source.batches([f"whale {part}" for part in range(15)], revision=revision))
    await upkeep.turn()
    assert tables.rows(index) == []
    for table in ("word_statistics", "word_frequency", "word_top", "chunk_signs_1", "vector_sample_1"):
        assert tables.row(f"select count(*) from {table}") == (0,), table
    assert covered(tables) == 0


async def test_settings_of_a_statement_end_with_it(tables: Tables, postgres: Postgres) -> None:
    memory = "select current_setting('maintenance_work_mem')"
    before = await postgres.fetch(memory)
    assert await postgres.alone("probe", f"create table probe as {memory} as given", {"maintenance_work_mem": "77MB"})
    assert tables.rows("select given from probe") == [("77MB",)]
    tables.rows("drop table probe")
    assert await postgres.fetch(memory) == before


@pytest.mark.parametrize(("most", "expected"), [(64, "64MB"), (1024, "147MB")])
async def test_an_index_is_built_in_the_memory_that_it_takes(
    tables: Tables, postgres: Postgres, monkeypatch: pytest.MonkeyPatch, most: int, expected: str
) -> None:
    """100,000 vectors of 384 dimensions, whose graph takes 147 MB."""
    given: list[Mapping[str, str]] = []

    async def alone(name: str, statement: object, settings: Mapping[str, str]) -> bool:
        given.append(settings)
        return True

    async def sizes(space_id: int) -> dict[UUID, int]:
        return {UUID(int=1): 100_000}

    indexes = VectorIndexes(postgres, UpkeepSettings(index_memory_mb=most))
    monkeypatch.setattr(postgres, "alone", alone)
    monkeypatch.setattr(indexes, "_sizes", sizes)
    tables.rows("select register_space('test/memory@384', 384)")
    await indexes.turn()
    assert {"maintenance_work_mem": expected, "max_parallel_maintenance_workers": "0"} in given
