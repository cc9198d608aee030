"""Months of the query log are made ahead, and old records go."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import psycopg
import pytest

from services.chassis.errors import DependencyDown
from services.chassis.postgres import Postgres
from services.chassis.settings import RetentionSettings
from services.indexer.retention import Retention
from tests.support.migrated import Tables

COLUMNS = (
    "organization_id, id, occurred_at, k, mode, fusion, filters, chunk_ids, source_ids, scores, cosines, bm25, "
    "vector_ranks, keyword_ranks, took_ms, role, audience"
)
LOGGED = f"insert into query_log ({COLUMNS}) values (%s, %s, %s, 6, 'hybrid', 'scores', '{{}}', '{{}}', '{{}}', " \
    "'{}', '{}', '{}', '{}', '{}', 1, 'agent', 'internal')"  # fmt: skip


def retention(postgres: Postgres, days: int) -> Retention:
    return Retention(postgres, RetentionSettings(query_log_retention_days=days))


def months(since: int, until: int) -> list[str]:
    """Names of partitions, by their distance from this month."""
    now = datetime.now(UTC)
    numbers = [now.year * 12 + now.month - 1 + distance for distance in range(since, until + 1)]
    return [f"query_log_{number // 12}_{number % 12 + 1:02}" for number in numbers]


def partitions(tables: Tables) -> list[str]:
    rows = tables.rows(
        "select inhrelid::regclass::text from pg_inherits where inhparent = 'query_log'::regclass order by 1"
    )
    return [name for (name,) in rows]


def make_old(tables: Tables, distance: int) -> str:
    """A partition of an earlier month, with a row."""
    [name] = months(distance, distance)
    first = datetime.strptime(name[-7:], "%Y_%m").replace(tzinfo=UTC)
    tables.rows(
        f"create table {name} partition of query_log for values from ('{first}') "
        f"to ('{first}'::timestamptz + interval '1 month')"
    )
    tables.rows(LOGGED, uuid4(), uuid4(), first)
    return name


async def test_missing_months_are_made_and_kept_ones_stay(tables: Tables, postgres: Postgres) -> None:
    assert partitions(tables) == months(0, 2), "the migration has made them"
    tables.rows(f"drop table {partitions(tables)[1]}")
    for _ in range(2):
        await retention(postgres, 90).turn()
        assert partitions(tables) == months(0, 2)
    tables.rows(LOGGED, uuid4(), uuid4(), datetime.now(UTC))
    tables.rows("truncate query_log")


async def test_old_months_go_with_their_rows(tables: Tables, postgres: Postgres) -> None:
    old, recent = make_old(tables, -5), make_old(tables, -1)
    await retention(postgres, 90).turn()
    assert partitions(tables) == [recent, *months(0, 2)]
    assert tables.row("select count(*) from query_log") == (1,)
    assert tables.row("select to_regclass(%s)", old) == (None,)
    await retention(postgres, 0).turn()
    assert partitions(tables) == months(0, 2)


async def test_a_month_that_is_in_use_is_left_for_the_next_look(tables: Tables, postgres: Postgres) -> None:
    old = make_old(tables, -5)
    with psycopg.connect(tables.dsn) as reader:
        reader.execute("select 1 from query_log")
        with pytest.raises(DependencyDown):
            await retention(postgres, 90).turn()
    assert old in partitions(tables)
    await retention(postgres, 90).turn()
    assert partitions(tables) == months(0, 2)


async def test_each_month_has_the_protection_of_the_whole(tables: Tables, postgres: Postgres) -> None:
    await retention(postgres, 90).turn()
    rows = tables.rows(
        "select relname, relrowsecurity and relforcerowsecurity, relacl is null from pg_class "
        "where relname like 'query\\_log\\_20%' and relkind = 'r'"
    )
    assert sorted(rows) == [(name, True, True) for name in months(0, 2)]


async def test_usage_that_nobody_reads_is_forgotten(tables: Tables, postgres: Postgres) -> None:
    organization, source = uuid4(), uuid4()
    for age in (0, 29, 30, 31, 400):
        tables.rows(
            "insert into source_usage values (%s, %s, (now() at time zone 'utc')::date - %s::integer, 1)",
            organization, source, age,
        )  # fmt: skip
    await retention(postgres, 90).turn()
    ages = tables.rows("select (now() at time zone 'utc')::date - day from source_usage order by 1")
    assert [age for (age,) in ages] == [0, 29, 30]
    tables.rows("truncate source_usage")
