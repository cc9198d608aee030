"""Every way that the vector arm can take finds what a look at everything finds, and so do all with what is new."""

from __future__ import annotations

import numpy as np
import psycopg
import pytest

from tests.integration.query.large import CHUNKS, DIMENSIONS, Large


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
