"""`kb replay` on a database with a log."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from pydantic import SecretStr

from services.chassis.postgres import Postgres
from services.chassis.settings import PostgresSettings
from services.cli.failures import CommandFailed
from services.cli.replaying.replaying import Plan, Replaying
from services.query.query_vectors import QueryVectors
from services.query.search import Search
from services.query.settings import AccessSettings, SearchSettings
from tests.integration.query.rows import SPACE, Rows, WordEncoder
from tests.integration.query.service import Service, running
from tests.support.migrated import migrated, migrated_template

__all__ = ["migrated", "migrated_template"]

TEXTS = [f"Refunds of kind {number} are paid within {number} days, says part {number}." for number in range(12)]


@pytest.fixture
def rows(migrated: str) -> Rows:
    return Rows(migrated)


@pytest.fixture
async def database(migrated: str) -> AsyncIterator[Postgres]:
    found = Postgres(PostgresSettings(dsn=SecretStr(migrated), role="kb_query", pool=2))
    await found.open()
    yield found
    await found.close()


async def ask(service: Service, headers: dict[str, str], *queries: str, **fields: Any) -> None:
    for query in queries:
        answer = await service.client.post("/v1/search", json={"query": query, **fields}, headers=headers)
        assert answer.status_code == 200
    await service.query_log.flush()


def replaying(database: Postgres, encoder: WordEncoder, public: UUID | None = None) -> Replaying:
    search = Search(database, QueryVectors(encoder, SearchSettings()), public)
    return Replaying(database, search, public, has_model=True)


async def test_the_same_question_gets_the_same_answer(migrated: str, rows: Rows, database: Postgres) -> None:
    operators, organization, other = rows.organization(), rows.organization(), rows.organization()
    source = rows.source(organization, rows.base(organization), TEXTS)
    rows.source(organization, rows.base(organization), ["Refunds that nobody may see yet."], is_public=False)
    rows.source(operators, rows.base(operators, "public"), ["Refunds for everybody."])
    rows.source(other, rows.base(other), TEXTS)
    async with running(
        migrated, access=AccessSettings(public_organization=operators), encoder=WordEncoder()
    ) as service:
        await ask(service, await service.key(organization, "agent"), "refunds of kind 3", "part 7", k=4)
        await ask(
            service,
            await service.key(organization, "staff"),
            "refunds nobody",
            source_ids=[str(source)],
            public_only=True,
        )
        await ask(service, await service.key(other, "admin"), "refunds of kind 3")
    before = rows.execute("select count(*) from query_log")
    found = await replaying(database, WordEncoder(), operators).run(Plan(organization, 10), SPACE.name)
    assert [each.query for each in found.compared] == ["refunds nobody", "part 7", "refunds of kind 3"]
    for each in found.compared:
        assert each.before == each.after != []
        assert (each.figures["overlap"], each.figures["rbo"], each.gone) == (1.0, pytest.approx(1.0), 0)
    assert rows.execute("select count(*) from query_log") == before, "a replay is not logged"


async def test_another_fusion_and_k_change_the_answer(migrated: str, rows: Rows, database: Postgres) -> None:
    organization = rows.organization()
    rows.source(organization, rows.base(organization), TEXTS)
    async with running(migrated, access=AccessSettings(), encoder=WordEncoder()) as service:
        await ask(service, await service.key(organization), "refunds of kind 3 days", k=4)
    run = replaying(database, WordEncoder()).run
    [wider] = (await run(Plan(organization, 1, k=8), SPACE.name)).compared
    assert (len(wider.before), len(wider.after), wider.after[:4]) == (4, 8, wider.before)
    assert wider.figures["overlap"] == 0.5
    [keyword] = (await run(Plan(organization, 1, fusion="keyword"), SPACE.name)).compared
    best = rows.execute("select text from chunk where id = %s", keyword.after[0])
    assert best == [(TEXTS[3],)]


async def test_chunks_that_are_gone_are_left_out_and_counted(migrated: str, rows: Rows, database: Postgres) -> None:
    organization = rows.organization()
    source = rows.source(organization, rows.base(organization), TEXTS)
    async with running(migrated, access=AccessSettings(), encoder=WordEncoder()) as service:
        await ask(service, await service.key(organization), "refunds of kind 3", k=4)
    [(best,)] = rows.execute("select chunk_ids[1] from query_log where organization_id = %s", organization)
    for table in ("chunk_place", "chunk_words", f"chunk_vector_{rows.space_id}"):
        rows.execute(f"delete from {table} where source_id = %s and chunk_id = %s", source, best)
    rows.execute("delete from chunk where source_id = %s and id = %s", source, best)
    [found] = (await replaying(database, WordEncoder()).run(Plan(organization, 1), SPACE.name)).compared
    assert (found.gone, len(found.before), len(found.after)) == (1, 3, 4)
    assert found.before == found.after[:3]


async def test_only_the_last_ones_and_only_with_texts(migrated: str, rows: Rows, database: Postgres) -> None:
    organization = rows.organization()
    rows.source(organization, rows.base(organization), TEXTS)
    async with running(migrated, access=AccessSettings(), encoder=WordEncoder()) as service:
        await ask(service, await service.key(organization), *(f"refunds {number}" for number in range(5)))
    rows.execute("update query_log set query = null where query = 'refunds 3' and organization_id = %s", organization)
    found = await replaying(database, WordEncoder()).run(Plan(organization, 3), SPACE.name)
    assert ([each.query for each in found.compared], found.without_text) == (["refunds 4", "refunds 2"], 1)


async def test_a_model_that_is_down_is_no_answer(migrated: str, rows: Rows, database: Postgres) -> None:
    organization = rows.organization()
    rows.source(organization, rows.base(organization), TEXTS)
    async with running(migrated, access=AccessSettings(), encoder=WordEncoder()) as service:
        await ask(service, await service.key(organization), "refunds")
    encoder = WordEncoder()
    encoder.down = True
    with pytest.raises(CommandFailed, match="PROVIDER_DOWN"):
        await replaying(database, encoder).run(Plan(organization, 3), SPACE.name)


async def test_the_command(migrated: str, rows: Rows, tmp_path: Path) -> None:
    organization = rows.organization()
    rows.source(organization, rows.base(organization), TEXTS)
    async with running(migrated, access=AccessSettings(), encoder=None) as service:
        await ask(service, await service.key(organization), "refunds of kind 3", "<b>part 7</b>", k=4)
    report = tmp_path / "report.html"
    command = [sys.executable, "-m", "services.cli", "replay", "--org", str(organization), "--fusion", "keyword"]
    env = {**os.environ, "KB_POSTGRES_DSN": migrated, "KB_MODEL": "none"}

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*command, *options], env=env, capture_output=True, text=True, timeout=60, check=False)

    ended = await asyncio.to_thread(run, "--json", "--report", str(report))
    assert ended.returncode == 0, ended.stderr + ended.stdout
    result = json.loads(ended.stdout)
    assert (result["queries"], result["unchanged"], result["space"], result["fusion"]) == (2, 2, None, "keyword")
    assert {row["query"] for row in result["compared"]} == {"refunds of kind 3", "<b>part 7</b>"}
    assert "&lt;b&gt;part 7" in report.read_text()
    lines = (await asyncio.to_thread(run)).stdout.splitlines()
    assert lines[0].split()[:3] == ["measure", "count", "mean"]
    assert "2 of 2 queries are answered as before. Most changed:" in lines
    refused = await asyncio.to_thread(run, "--space", "no space at all")
    assert (refused.returncode, refused.stderr.split(":")[0]) == (1, "REQUEST_INVALID")
