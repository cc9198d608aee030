"""Searches are noted beside their answers, for the organization's administrators, and never at an answer's cost."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from prometheus_client import REGISTRY
from pydantic import SecretStr

from services.chassis.errors import DependencyDown
from services.chassis.postgres import Postgres
from services.chassis.settings import PostgresSettings
from services.query.access import Principal
from services.query.query_log.entries import Question
from services.query.query_log.writing import QueryLog
from services.query.search import Answer, Filters
from services.query.settings import AccessSettings, QueryLogSettings
from tests.integration.query.rows import Rows, WordEncoder
from tests.integration.query.service import Service, running

TEXTS = ["Refunds are paid back within fourteen days.", "The garage opens at seven."]
QUESTION = Question("when are refunds paid", 6, Filters(), "scores")
NOTHING_FOUND = Answer([], "keyword", degraded=None, space=None)


@pytest.fixture
def filled(rows: Rows) -> tuple[UUID, UUID]:
    """An organization and its source."""
    organization = rows.organization()
    return organization, rows.source(organization, rows.base(organization), TEXTS)


def rows_by(outcome: str) -> float:
    return REGISTRY.get_sample_value("kb_query_log_total", {"outcome": outcome}) or 0.0


async def ask(service: Service, headers: dict[str, str], query: str = "when are refunds paid", **fields: Any) -> Any:
    content = json.dumps({"query": query, **fields})  # the client's own encoder takes no halves of characters
    headers = {**headers, "content-type": "application/json"}
    answer = await service.client.post("/v1/search", content=content, headers=headers)
    assert answer.status_code == 200
    return answer.json()


async def logged(service: Service, headers: dict[str, str], **parameters: Any) -> Any:
    answer = await service.client.get("/v1/queries", params=parameters, headers=headers)
    assert answer.status_code == 200
    return answer.json()


async def test_a_search_is_noted_with_its_answer(service: Service, filled: tuple[UUID, UUID]) -> None:
    organization, source = filled
    profile = uuid4()
    made = await service.keys.make(organization, "test", "agent", profile)
    headers = {"authorization": f"Bearer {made['key']}"}
    fields = {"k": 2, "fusion": "rrf", "source_ids": [str(source)], "explain": True, "message_id": "msg\0 1\ud800"}
    answer = await ask(service, headers, "  when are refunds paid\0 ", **fields)
    await service.query_log.flush()
    [row] = (await logged(service, await service.key(organization, "admin")))["items"]
    assert (row["query"], row["k"], row["fusion"], row["mode"]) == ("when are refunds paid", 2, "rrf", "hybrid")
    assert (row["space"], row["degraded"]) == ("test/words@64", None)
    assert (row["role"], row["audience"], row["profile_id"]) == ("agent", "internal", str(profile))
    assert (row["api_key_id"], row["message_id"]) == (str(made["id"]), "msg\ufffd 1?")
    assert row["filters"] == {"source_ids": [str(source)]}
    assert row["chunk_ids"] == [hit["chunk_id"] for hit in answer["hits"]]
    assert row["source_ids"] == [str(source)] * 2
    assert row["scores"] == [hit["score"] for hit in answer["hits"]]
    for arm, scores, ranks in (("vector", "cosines", "vector_ranks"), ("keyword", "bm25", "keyword_ranks")):
        assert row[scores] == [hit["explain"][arm]["score"] for hit in answer["hits"]]
        assert row[ranks] == [hit["explain"][arm]["rank"] for hit in answer["hits"]]
    assert row["took_ms"] == pytest.approx(answer["took_ms"], abs=0.01)


async def test_a_degraded_and_an_empty_answer_are_noted_too(service: Service, filled: tuple[UUID, UUID]) -> None:
    headers = await service.key(filled[0], "admin")
    service.encoder.down = True
    await ask(service, headers, "nothing of this kind")
    await service.query_log.flush()
    [row] = (await logged(service, headers))["items"]
    assert (row["degraded"], row["space"], row["chunk_ids"], row["mode"]) == ("PROVIDER_DOWN", None, [], "keyword")


async def test_the_list_comes_in_pages_newest_first(service: Service, filled: tuple[UUID, UUID]) -> None:
    headers = await service.key(filled[0], "admin")
    asked = [f"refunds number {number}" for number in range(7)]
    for query in asked:
        await ask(service, headers, query)
    await service.query_log.flush()
    found: list[str] = []
    cursor = None
    while True:
        page = await logged(service, headers, limit=3, **({"cursor": cursor} if cursor else {}))
        found += [row["query"] for row in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert found == asked[::-1]


@pytest.mark.parametrize("role", ["agent", "member", "staff"])
async def test_it_is_for_administrators(service: Service, filled: tuple[UUID, UUID], role: Any) -> None:
    answer = await service.client.get("/v1/queries", headers=await service.key(filled[0], role))
    assert (answer.status_code, answer.json()["code"]) == (403, "FORBIDDEN")


async def test_another_organization_sees_nothing(
    service: Service, rows: Rows, dsn: str, filled: tuple[UUID, UUID]
) -> None:
    other = rows.organization()
    await ask(service, await service.key(filled[0], "admin"))
    await service.query_log.flush()
    assert (await logged(service, await service.key(other, "admin")))["items"] == []
    with psycopg.connect(dsn, autocommit=True) as connection:
        [(partition,)] = connection.execute(
            "select distinct tableoid::regclass::text from query_log where organization_id = %s", (filled[0],)
        ).fetchall()
        connection.execute("set role kb_query")
        for table in ("query_log", "source_usage"):
            with pytest.raises(psycopg.errors.UndefinedObject):
                connection.execute(f"select 1 from {table}")
        connection.execute("select set_config('app.organization_id', %s, false)", (str(other),))
        for table in ("query_log", "source_usage"):
            assert connection.execute(f"select 1 from {table}").fetchall() == []
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"delete from {table}")
        for forbidden in (
            f"select 1 from {partition}",
            "select ensure_query_log_partitions(1)",
            "select drop_query_log_partitions(0)",
            f"insert into source_usage values ('{filled[0]}', '{filled[1]}', now(), 1)",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(forbidden)


async def test_texts_need_not_be_kept(dsn: str, filled: tuple[UUID, UUID]) -> None:
    async with running(
        dsn, access=AccessSettings(), encoder=WordEncoder(), query_log=QueryLogSettings(text=False)
    ) as service:
        headers = await service.key(filled[0], "admin")
        answer = await ask(service, headers)
        await service.query_log.flush()
        [row] = (await logged(service, headers))["items"]
    assert row["query"] is None
    assert row["chunk_ids"] == [hit["chunk_id"] for hit in answer["hits"]]


async def test_without_a_retention_nothing_is_noted(dsn: str, rows: Rows, filled: tuple[UUID, UUID]) -> None:
    async with running(dsn, access=AccessSettings(), encoder=WordEncoder(), is_logging=False) as service:
        await ask(service, await service.key(filled[0], "admin"))
        await service.query_log.flush()
    assert rows.execute("select 1 from query_log where organization_id = %s", filled[0]) == []


async def test_a_log_that_hangs_delays_no_answer(service: Service, dsn: str, filled: tuple[UUID, UUID]) -> None:
    headers = await service.key(filled[0], "admin")
    await ask(service, headers)
    with psycopg.connect(dsn) as blocking:
        blocking.execute("lock table query_log in access exclusive mode")
        writing = asyncio.create_task(service.query_log.flush())
        # More answers than the pool has connections, although the log can't be written.
        for _ in range(6):
            async with asyncio.timeout(5):
                await ask(service, headers)
        assert not writing.done()
    await writing
    assert len((await logged(service, headers))["items"]) == 7


async def test_a_full_queue_drops_and_counts(dsn: str, rows: Rows, filled: tuple[UUID, UUID]) -> None:
    async with running(
        dsn, access=AccessSettings(), encoder=WordEncoder(), query_log=QueryLogSettings(waiting=2)
    ) as service:
        headers = await service.key(filled[0], "admin")
        before = rows_by("dropped")
        for number in range(5):
            await ask(service, headers, f"refunds {number}")
        assert rows_by("dropped") - before == 3
        await service.query_log.flush()
        assert [row["query"] for row in (await logged(service, headers))["items"]] == ["refunds 1", "refunds 0"]
        await ask(service, headers, "there is room again")
        await service.query_log.flush()
        assert len((await logged(service, headers))["items"]) == 3


def log_on(dsn: str, **settings: Any) -> tuple[QueryLog, Postgres]:
    postgres = Postgres(PostgresSettings(dsn=SecretStr(dsn), role="kb_query", pool=1, timeout=0.2))
    return QueryLog(postgres, QueryLogSettings(**settings), None, is_on=True), postgres


async def test_a_stop_drains_the_queue(dsn: str, rows: Rows) -> None:
    organizations = [rows.organization() for _ in range(3)]
    log, postgres = log_on(dsn)
    await postgres.open()
    for number in range(450):
        log.note(Principal(organizations[number % 3]), QUESTION, NOTHING_FOUND, 1.0)
    await log.drain()
    await postgres.close()
    for organization in organizations:
        assert rows.execute("select count(*) from query_log where organization_id = %s", organization) == [(150,)]


async def test_a_stop_does_not_wait_for_ever(dsn: str, rows: Rows) -> None:
    organization = rows.organization()
    log, postgres = log_on(dsn, drain_timeout=0.1)
    await postgres.open()
    before = rows_by("dropped")
    log.note(Principal(organization), QUESTION, NOTHING_FOUND, 1.0)
    with psycopg.connect(dsn) as blocking:
        blocking.execute("lock table query_log in access exclusive mode")
        async with asyncio.timeout(5):
            await log.drain()
    await postgres.close()
    assert rows_by("dropped") - before == 1
    assert rows.execute("select 1 from query_log where organization_id = %s", organization) == []


async def test_rows_wait_while_postgres_is_away(dsn: str, rows: Rows) -> None:
    organization = rows.organization()
    log, postgres = log_on(dsn, pause=0, retry_pause=0)
    log.note(Principal(organization), QUESTION, NOTHING_FOUND, 1.0)
    with pytest.raises(DependencyDown):
        await log.flush()  # nobody has connected
    running_log = asyncio.create_task(log.run())
    await postgres.open()
    async with asyncio.timeout(30):
        while not rows.execute("select 1 from query_log where organization_id = %s", organization):
            await asyncio.sleep(0.02)
    log.note(Principal(organization), QUESTION, NOTHING_FOUND, 1.0)
    async with asyncio.timeout(30):
        while rows.execute("select count(*) from query_log where organization_id = %s", organization) != [(2,)]:
            await asyncio.sleep(0.02)
    running_log.cancel()
    await asyncio.gather(running_log, return_exceptions=True)
    await postgres.close()


async def test_rows_wait_for_a_missing_partition(
    dsn: str, rows: Rows, filled: tuple[UUID, UUID], service: Service
) -> None:
    headers = await service.key(filled[0], "admin")
    await ask(service, headers)
    [(partition,)] = rows.execute("select 'query_log_' || to_char(now() at time zone 'utc', 'YYYY_MM')")
    rows.execute(f"drop table {partition}")
    with pytest.raises(DependencyDown, match="partition"):
        await service.query_log.flush()
    rows.execute("select ensure_query_log_partitions(0)")
    await service.query_log.flush()
    assert len((await logged(service, headers))["items"]) == 1
