"""An organization that is large by limits which a test can reach, with another beside it."""

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
