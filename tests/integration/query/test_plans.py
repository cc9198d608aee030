"""The plans of the search statement, as the role of the service gets them."""

from __future__ import annotations

from uuid import UUID, uuid4

import psycopg
import pytest

from services.chassis.queries import load_queries
from tests.benchmarks.search_rounds import parameters
from tests.integration.query.rows import SPACE, Rows, asked

FILL = """
with filled as (
    select %(organization)s::uuid as organization_id, %(source)s::uuid as source_id, gen_random_uuid() as id, number
    from generate_series(1, %(chunks)s) number
), words as (
    insert into chunk_words select organization_id, source_id, id,
        to_tsvector('english', 'common filler ' || case when number %% 500 = 0 then 'needle' else '' end
            || ' w' || number)
    from filled
), chunks as (
    insert into chunk select organization_id, source_id, id, sha256(id::text::bytea), 10, 'text' from filled
), places as (
    insert into chunk_place select organization_id, source_id, id, number, 0, 4, array[]::text[], jsonb_build_object()
    from filled
)
insert into chunk_vector_{space}
select organization_id, source_id, id,
       (select array_agg(sin(number * place)) from generate_series(1, {dimensions}) place)::halfvec from filled
"""


@pytest.fixture(scope="module")
def organization(rows: Rows) -> UUID:
    """One of two organizations with 5,000 chunks."""
    organizations = [rows.organization() for _ in range(2)]
    statement = FILL.format(space=rows.space_id, dimensions=SPACE.dimensions)
    for organization in organizations:
        source = rows.source(organization, rows.base(organization), [], chunk_count=5000)
        with psycopg.connect(rows.dsn, autocommit=True) as connection:
            connection.execute(statement.encode(), {"organization": organization, "source": source, "chunks": 5000})
    rows.execute("vacuum analyze")
    return organizations[0]


def plans(dsn: str, organization: UUID, query: str, space: int) -> list[str]:
    """The plans of all statements inside of a search, by auto_explain."""
    told: list[str] = []
    vector = "[" + ",".join(["0.1"] * SPACE.dimensions) + "]"
    with psycopg.connect(dsn) as connection:
        connection.add_notice_handler(lambda notice: told.append(notice.message_primary or ""))
        connection.execute("load 'auto_explain'")
        connection.execute("set auto_explain.log_min_duration = 0")
        connection.execute("set auto_explain.log_nested_statements = on")
        connection.execute("set role kb_query")
        connection.execute("select set_config('app.organization_id', %s, true)", (str(organization),))
        connection.execute("set client_min_messages = log")
        rows = connection.execute(
            "select * from search_chunks(%s, %s, %s, %s, 'scores', 30, 16, null, false, false, "
            "null, null, null, false, null)",
            (*asked(query), vector, space),
        ).fetchall()
    assert rows
    return told


@pytest.mark.parametrize("refreshed", [False, True])
def test_words_are_looked_up_in_their_index(rows: Rows, organization: UUID, refreshed: bool) -> None:
    if refreshed:
        rows.execute("select refresh_word_statistics(%s)", organization)
    found = plans(rows.dsn, organization, "needle w77", rows.space_id)
    statement = next(plan for plan in found if "Query Text: with scored" in plan)
    assert "Bitmap Index Scan on chunk_words_words" in statement
    assert f"Index Cond: ((organization_id = '{organization}'::uuid) AND (words @@ '" in statement
    assert any("query_terms(" in plan and "Bitmap Index Scan on chunk_words_words" in plan for plan in found)


def test_the_function_is_for_the_service_alone(rows: Rows) -> None:
    call = (
        "search_chunks(text[], text[], text, integer, text, integer, integer, uuid, boolean, boolean, uuid[], "
        "uuid[], text[], boolean, jsonb)"
    )
    assert rows.execute(
        "select r, has_function_privilege(r, %s, 'execute') from unnest(array['kb_query', 'pg_monitor']) r", call
    ) == [("kb_query", True), ("pg_monitor", False)]


def test_without_an_organization_it_is_an_error(rows: Rows) -> None:
    with psycopg.connect(rows.dsn) as connection:
        connection.execute("set role kb_query")
        with pytest.raises(psycopg.errors.UndefinedObject, match=r"app\.organization_id"):
            connection.execute(
                "select * from search_chunks(array['needle'], null, null, null, 'scores', 30, 16, %s, false, "
                "false, null, null, null, false, null)",
                (uuid4(),),
            )


@pytest.mark.parametrize("kind", ["nestloop", "hashjoin", "mergejoin"])
def test_rows_come_best_first_however_they_are_joined(rows: Rows, organization: UUID, kind: str) -> None:
    statement = load_queries("services.query", "search.sql")["search"]
    given = parameters("common filler needle", None, organization) | {"fusion": "keyword", "pool": 200, "most": 100}
    with psycopg.connect(rows.dsn) as connection:
        for other in {"nestloop", "hashjoin", "mergejoin"} - {kind}:
            connection.execute(f"set enable_{other} = off".encode())
        connection.execute("select set_config('app.organization_id', %s, true)", (str(organization),))
        found = connection.execute(statement, given).fetchall()
    scores = [row[1] for row in found]
    assert len(scores) == 100
    assert scores == sorted(scores, reverse=True)
