"""The service as a process of its own: what it has answered is in the log when it has ended."""

from __future__ import annotations

from pathlib import Path

import httpx

from services.chassis.embedded.broker import EmbeddedBroker
from services.cli.fleet import Fleet
from tests.integration.query.rows import Rows


async def test_a_stop_writes_what_waits(dsn: str, rows: Rows, shared_tansu: EmbeddedBroker, tmp_path: Path) -> None:
    organization = rows.organization()
    source = rows.source(organization, rows.base(organization), ["Refunds are paid within two weeks."])
    # Long enough that only the stop can have written.
    env = {"KB_QUERY_OPEN": "true", "KB_MODEL": "none", "KB_QUERY_LOG_PAUSE": "600"}
    fleet = Fleet(dsn, shared_tansu.bootstrap_servers, tmp_path, env=env)
    process = fleet.child("query")
    process.start()
    try:
        await process.ready(60)
        headers = {"x-organization": str(organization)}
        async with httpx.AsyncClient(base_url=fleet.url("query"), headers=headers, trust_env=False) as client:
            for _ in range(3):
                answer = await client.post("/v1/search", json={"query": "refunds"})
                assert [hit["source_id"] for hit in answer.json()["hits"]] == [str(source)]
        assert rows.execute("select 1 from query_log where organization_id = %s", organization) == []
    finally:
        await process.stop(30)
    assert process.exit_code == 0, process.log_path.read_text()
    assert (
        rows.execute("select query, role from query_log where organization_id = %s", organization)
        == [("refunds", "admin")] * 3
    )
    assert rows.execute("select times from source_usage where source_id = %s", source) == [(3,)]
