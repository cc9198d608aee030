"""How often a source was part of an answer: exact under several writers, and cheap to read."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import pytest
from pydantic import SecretStr

from services.chassis.postgres import Postgres
from services.chassis.settings import PostgresSettings
from services.query.access import Principal
from services.query.query_log.entries import Question
from services.query.query_log.writing import QueryLog
from services.query.search import Answer, Filters, Hit, Row
from services.query.settings import AccessSettings, QueryLogSettings
from tests.integration.query.rows import Rows, WordEncoder
from tests.integration.query.service import Service, running

QUESTION = Question("when are refunds paid", 6, Filters(), "scores")


def answer_of(*sources: UUID) -> Answer:
    """An answer with one chunk of each."""
    hits = []
    for number, source in enumerate(sources, 1):
        chunk = UUID(int=number)
        row = Row(chunk, 1.0, 0.5, 1, 1.0, 1, True, source, UUID(int=0), None, None, [], "{}", 0, 5, "text")
        hits.append(Hit(row, {}, None, []))
    return Answer(hits, "hybrid", degraded=None, space="test/words@64")


async def uses(service: Service, headers: dict[str, str], source: UUID) -> Any:
    return (await service.client.get(f"/v1/sources/{source}", headers=headers)).json()["used_30d"]


async def test_searches_count_once_a_source(service: Service, rows: Rows) -> None:
    organization = rows.organization()
    base = rows.base(organization)
    used = rows.source(organization, base, ["Refunds are paid.", "Refunds take two weeks."])
    unused = rows.source(organization, base, ["Something about parking."])
    headers = await service.key(organization, "admin")
    for _ in range(3):
        asked = {"query": "refunds", "k": 2}
        assert (await service.client.post("/v1/search", json=asked, headers=headers)).status_code == 200
    await service.query_log.flush()
    assert [await uses(service, headers, source) for source in (used, unused)] == [3, 0]
    listed = (await service.client.get(f"/v1/knowledge-bases/{base}/sources", headers=headers)).json()["items"]
    assert {item["id"]: item["used_30d"] for item in listed} == {str(used): 3, str(unused): 0}


async def test_only_the_last_30_days_count(service: Service, rows: Rows) -> None:
    organization = rows.organization()
    source = rows.source(organization, rows.base(organization), ["Refunds"])
    for age, times in ((0, 1), (29, 10), (30, 100), (31, 1000)):
        rows.execute(
            "insert into source_usage values (%s, %s, (now() at time zone 'utc')::date - %s::integer, %s)",
            organization, source, age, times,
        )  # fmt: skip
    assert await uses(service, await service.key(organization), source) == 11


async def test_public_sources_are_counted_for_their_owners(dsn: str, rows: Rows) -> None:
    operators, guests = rows.organization(), rows.organization()
    source = rows.source(operators, rows.base(operators, "public"), ["Refunds are paid."])
    own = rows.source(guests, rows.base(guests), ["Refunds of our own."])
    access = AccessSettings(public_organization=operators)
    async with running(dsn, access=access, encoder=WordEncoder()) as service:
        keys = [await service.key(organization, "admin") for organization in (operators, guests)]
        for headers in keys:
            await service.client.post("/v1/search", json={"query": "refunds"}, headers=headers)
        await service.query_log.flush()
        assert [await uses(service, headers, source) for headers in keys] == [2, None]
        assert await uses(service, keys[1], own) == 1


@pytest.mark.parametrize("organizations", [1, 2])
async def test_processes_that_write_together_lose_and_double_nothing(dsn: str, rows: Rows, organizations: int) -> None:
    """Two writers with connections of their own count the same sources in opposite orders, in many small batches."""
    operators = rows.organization()
    public = [rows.source(operators, rows.base(operators, "public"), []) for _ in range(4)]
    askers = [rows.organization() for _ in range(organizations)]
    pools = [Postgres(PostgresSettings(dsn=SecretStr(dsn), role="kb_query", pool=1)) for _ in range(2)]
    logs = [QueryLog(pool, QueryLogSettings(), operators, is_on=True) for pool in pools]

    async def write(log: QueryLog, asker: UUID, sources: list[UUID]) -> None:
        for number in range(60):
            log.note(Principal(asker), QUESTION, answer_of(*sources[: number % 4 + 1]), 1.0)
            if number % 3 == 2:
                await log.flush()

    for pool in pools:
        await pool.open()
    await asyncio.gather(write(logs[0], askers[0], public), write(logs[1], askers[-1], public[::-1]))
    for pool in pools:
        await pool.close()
    counted = dict(rows.execute("select source_id, times from source_usage where organization_id = %s", operators))
    expected = [60 + 15, 45 + 30, 30 + 45, 15 + 60]
    assert [counted[source] for source in public] == expected
    [(logged,)] = rows.execute("select count(*) from query_log where organization_id = any(%s)", askers)
    assert logged == 120


async def test_a_batch_that_is_written_twice_counts_once(dsn: str, rows: Rows) -> None:
    """As after an acknowledgement that was lost."""
    organization = rows.organization()
    source = rows.source(organization, rows.base(organization), [])
    postgres = Postgres(PostgresSettings(dsn=SecretStr(dsn), role="kb_query", pool=1))
    log = QueryLog(postgres, QueryLogSettings(), None, is_on=True)
    await postgres.open()
    log.note(Principal(organization), QUESTION, answer_of(source, source), 1.0)
    waiting = list(log._waiting)
    await log.flush()
    log._waiting.extend(waiting)
    await log.flush()
    await postgres.close()
    assert rows.execute("select times from source_usage where source_id = %s", source) == [(1,)]
    assert rows.execute("select count(*) from query_log where organization_id = %s", organization) == [(1,)]


async def test_sources_that_are_unknown_are_not_counted(dsn: str, rows: Rows) -> None:
    organization, foreign = rows.organization(), rows.organization()
    theirs = rows.source(foreign, rows.base(foreign), [])
    postgres = Postgres(PostgresSettings(dsn=SecretStr(dsn), role="kb_query", pool=1))
    log = QueryLog(postgres, QueryLogSettings(), None, is_on=True)
    await postgres.open()
    log.note(Principal(organization), QUESTION, answer_of(theirs), 1.0)
    await log.flush()
    await postgres.close()
    assert rows.execute("select 1 from source_usage where source_id = %s", theirs) == []
