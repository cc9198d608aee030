"""Every way that the vector arm and the keyword arm can take finds what a look at everything finds."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

import numpy as np
import psycopg
import pytest

from services.indexer.settings import UpkeepSettings
from tests.integration.query.rows import asked
from tests.support.filled import Filled, organization_id
from tests.support.postgres import SharedPostgres

DIMENSIONS, CHUNKS, NEIGHBOURS = 64, 3000, 300
COMMON = ("water", "stone", "river", "cloud")
# Limits that a test can reach: what they are in production is measured by the benchmarks.
SMALL = """
create or replace function search_bounds() returns search_limits language sql immutable
    return row({exact}, 100, 32, 5, 4, 100, 200, 1000, 0.3)::search_limits;
create or replace function upkeep_sizes() returns upkeep_bounds language sql immutable
    return row(20, 200, 200, 128)::upkeep_bounds;
"""


@dataclass
class Large:
    """An organization that is kept up, with another beside it."""

    filled: Filled
    organization: UUID
    vectors: np.ndarray

    def execute(self, statement: str, *parameters: object) -> list[tuple[object, ...]]:
        with psycopg.connect(self.filled.dsn, autocommit=True) as connection:
            cursor = connection.execute(statement.encode(), parameters)
            return cursor.fetchall() if cursor.description else []

    def scope(self, chunks: int | None = None) -> str:
        """The whole scope as an expression, or that of the sources that hold the first `chunks`."""
        return (
            f"search_scope('{self.organization}', null, false, false, null, {self._sources(chunks)}, null, false, null)"
        )

    def _sources(self, chunks: int | None) -> str:
        if chunks is None:
            return "null"
        return (
            "(select array_agg(id) from (select id from knowledge_source where organization_id = "
            f"'{self.organization}' order by id limit {chunks // 20}) few)"
        )

    def by_vector(self, route: str, vector: np.ndarray, pool: int = 30, chunks: int | None = None) -> list[UUID]:
        [(found,)] = self.execute(
            f"select (vector_arm({self.scope(chunks)}, e, %s, {pool}, %s)).chunks from embedding_space e",
            "[" + ",".join(map(str, vector.tolist())) + "]", route,
        )  # fmt: skip
        return list(found or [])

    def by_words(self, query: str, *, is_bounded: bool, pool: int = 30, chunks: int | None = None) -> list[UUID]:
        scope = self.scope(chunks)
        [(found,)] = self.execute(
            f"select (keyword_arm({scope}, search_words({scope}, %s, %s, {is_bounded}), {pool}, null)).chunks",
            *asked(query),
        )
        return list(found or [])

    def scores(self, query: str, chunks: list[UUID]) -> float:
        """The sum of the true BM25 of some chunks."""
        [(expression, norm)] = self.execute(
            f"select (w).expression, (w).norm from (select search_words({self.scope()}, %s, %s, false) w) x",
            *asked(query),
        )
        [(total,)] = self.execute(
            f"select sum({expression}) from chunk_words w cross join lateral ({norm}) n where chunk_id = any(%s)",
            chunks,
        )
        return float(str(total))

    def route(self, chunks: int | None = None) -> str:
        [(route,)] = self.execute(f"select vector_route({self.scope(chunks)}, e) from embedding_space e")
        return str(route)


def text_of(chance: random.Random, row: int) -> str:
    common = " ".join(chance.choice(COMMON) for _ in range(chance.randint(1, 6)))
    return f"{common} rare{row % 90:03} {' '.join(f'w{chance.randint(0, 999)}' for _ in range(chance.randint(5, 40)))}"


def vectors_of(rows: int) -> np.ndarray:
    """Unit vectors around a mean that is far from zero, as those of some models are."""
    noise = np.random.default_rng(3).standard_normal((rows, DIMENSIONS)).astype("f4")
    centres = np.random.default_rng(4).standard_normal((rows // 50, DIMENSIONS)).astype("f4")
    vectors = 2.0 + noise + 2 * centres[np.arange(rows) % len(centres)]
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype="f4")


@pytest.fixture(scope="module")
def large(shared_postgres: SharedPostgres) -> Iterator[Large]:
    dsn = shared_postgres.create_database()
    filled = Filled(dsn, DIMENSIONS)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(SMALL.format(exact=1000 * DIMENSIONS).encode())
    chance = random.Random(1)
    vectors = vectors_of(CHUNKS + NEIGHBOURS)
    texts = [text_of(chance, row) for row in range(CHUNKS + NEIGHBOURS)]
    filled.write(texts, vectors, [0] * CHUNKS + [1] * NEIGHBOURS)
    asyncio.run(filled.keep_up(UpkeepSettings(least_chunks=1000, index_chunks=2000)))
    yield Large(filled, organization_id(0), vectors)
    shared_postgres.drop_database(dsn)


def test_it_is_routed_by_what_is_visible(large: Large) -> None:
    assert large.route() == "hnsw"
    assert large.route(chunks=1000) == "exact"
    assert large.route(chunks=1600) == "hnsw"
    name = f"chunk_vector_1_hnsw_{large.organization.hex}"
    large.execute(f"alter index {name} rename to parked")
    try:
        assert large.route() == "signs"
    finally:
        large.execute(f"alter index parked rename to {name}")


@pytest.mark.parametrize("chunks", [None, 1600])
@pytest.mark.parametrize("route", ["signs", "hnsw"])
def test_routes_find_what_the_exact_one_finds(large: Large, route: str, chunks: int | None) -> None:
    shares = []
    for row in range(0, CHUNKS, 150):
        wanted = large.by_vector("exact", large.vectors[row], 10, chunks)
        found = large.by_vector(route, large.vectors[row], 10, chunks)
        assert len(found) == 10
        shares.append(len(set(wanted) & set(found)) / 10)
    assert np.mean(shares) >= 0.99
    assert min(shares) >= 0.9


@pytest.mark.parametrize("route", ["exact", "signs", "hnsw"])
def test_no_route_finds_less_than_there_is(large: Large, route: str) -> None:
    """Of 150 sources one is visible: a hundredth."""
    assert len(large.by_vector(route, large.vectors[7], 30, chunks=20)) == 20
    assert len(large.by_vector(route, large.vectors[7], 30, chunks=40)) == 30


QUERIES = ("water", "water stone", "water stone river cloud", "rare007 water cloud", "w77 stone")


@pytest.mark.parametrize("chunks", [None, 400])
@pytest.mark.parametrize("query", QUERIES)
def test_best_chunks_of_common_words_are_found(large: Large, query: str, chunks: int | None) -> None:
    wanted = large.by_words(query, is_bounded=False, chunks=chunks)
    found = large.by_words(query, is_bounded=True, chunks=chunks)
    assert len(found) == len(wanted)
    assert large.scores(query, found) >= 0.98 * large.scores(query, wanted)


def best_scores(connection: psycopg.Connection, scope: str, query: str, *, is_bounded: bool) -> list[float]:
    cursor = connection.execute(
        f"select (keyword_arm({scope}, search_words({scope}, %s, %s, {is_bounded}), 30, null)).scores".encode(),
        asked(query),
    )
    return sorted(cursor.fetchall()[0][0] or [], reverse=True)


@pytest.mark.parametrize("chunks", [None, 1600])
@pytest.mark.parametrize("gone", [False, True])
def test_what_the_lists_rule_out_is_not_among_the_best(large: Large, chunks: int | None, gone: bool) -> None:
    """With room for all that they do not rule out nothing is lost, not even while they name sources that have gone."""
    chance = random.Random(6)
    words = [*COMMON, "rare007", "w77", "w500"]
    with psycopg.connect(large.filled.dsn) as connection:
        connection.execute(
            SMALL.format(exact=1000 * DIMENSIONS).replace("4, 100, 200, 1000", "4, 3000, 3000, 100000").encode()
        )
        if gone:
            few = "(select unnest(sources[1:30]) from word_top where organization_id = %(of)s)"
            for statement in (
                f"delete from chunk_words where organization_id = %(of)s and source_id in {few}",
                f"update knowledge_source set chunk_count = 0, live_revision = null where id in {few}",
            ):
                connection.execute(statement.encode(), {"of": large.organization})
        for _ in range(30):
            query = " ".join(chance.sample(words, chance.randint(1, 4)))
            wanted = best_scores(connection, large.scope(chunks), query, is_bounded=False)
            assert best_scores(connection, large.scope(chunks), query, is_bounded=True) == pytest.approx(
                wanted, abs=1e-4
            )
            assert wanted
        connection.rollback()


def test_a_query_of_common_words_does_not_read_all_that_hold_them(large: Large) -> None:
    scope = large.scope()
    [(candidates, common)] = large.execute(
        "select (w).candidates, (w).common "
        f"from (select search_words({scope}, array['water', 'cloud'], '{{}}', true) w) x"
    )
    assert candidates is None
    assert common is not None


def test_words_of_few_visible_sources_are_found_beside_many_hidden_ones(large: Large) -> None:
    wanted = large.by_words("water stone", is_bounded=False, chunks=20)
    assert 10 < len(wanted) <= 20
    assert set(large.by_words("water stone", is_bounded=True, chunks=20)) == set(wanted)


def test_what_is_newer_than_the_upkeep_is_found(large: Large) -> None:
    """A source that comes, one that changes and one that goes: all ways see it at once."""
    ((source,),) = large.execute(
        "select id from knowledge_source where organization_id = %s order by id limit 1", large.organization
    )
    chunks = {row[0] for row in large.execute("select id from chunk where source_id = %s", source)}
    large.execute("update knowledge_source set live_revision = live_revision + 1 where id = %s", source)
    large.execute("delete from chunk_signs_1 where source_id = %s", source)
    large.execute(
        "update chunk_words set words = to_tsvector('english', repeat('river ', 200)) where source_id = %s", source
    )
    first = min(chunks)
    row = large.filled.row_of[first]
    assert large.by_vector("signs", large.vectors[row], 1) == [first]
    assert chunks <= set(large.by_words("river", is_bounded=True, pool=30))
    large.execute("update knowledge_source set archived_at = now() where id = %s", source)
    assert not chunks & set(large.by_words("river", is_bounded=True, pool=30))
    for route in ("exact", "signs", "hnsw"):
        assert not chunks & set(large.by_vector(route, large.vectors[row], 30))
    large.execute("update knowledge_source set archived_at = null where id = %s", source)


def test_plans(large: Large) -> None:
    """Each route reads what it is meant to read, through the index that it is meant for."""
    vector = "[" + ",".join(["0.1"] * DIMENSIONS) + "]"
    for route, expected in (
        ("exact", "chunk_vector_1_pkey"),
        ("signs", "chunk_signs_1"),
        ("hnsw", "chunk_vector_1_hnsw_"),
    ):
        told: list[str] = []
        with psycopg.connect(large.filled.dsn) as connection:
            connection.add_notice_handler(lambda notice, told=told: told.append(notice.message_primary or ""))
            connection.execute(
                "load 'auto_explain'; set auto_explain.log_min_duration = 0; set client_min_messages = log; "
                "set auto_explain.log_nested_statements = on"
            )
            scope = large.scope(1000 if route == "exact" else None)
            connection.execute(
                f"select vector_arm({scope}, e, %s, 30, %s) from embedding_space e".encode(), (vector, route)
            )
        plan = next(each for each in told if "Query Text: with asked" in each)
        assert expected in plan, route
        assert route == "signs" or "Seq Scan on chunk_vector_1" not in plan
