"""The keyword arm finds the best chunks without a look at all that hold common words."""

from __future__ import annotations

import random

import psycopg
import pytest

from tests.integration.query.large import COMMON, DIMENSIONS, SMALL, Large
from tests.integration.query.rows import asked

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
