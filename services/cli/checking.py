"""What has to be there for the system to work, looked at one by one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal, NamedTuple

import httpx
import psycopg
from aiokafka.admin import AIOKafkaAdminClient

from schemas.codes import CATALOGUE, Code
from services.chassis.broker import client_options
from services.chassis.migrations import all_migrations
from services.chassis.provisioning import planned
from services.chassis.settings import KafkaSettings, PostgresSettings
from services.cli.failures import as_failure
from services.encoder.opening import open_encoder
from services.encoder.settings import EncoderSettings


class Finding(NamedTuple):
    """One look. A warning leaves the system working in part."""

    name: str
    state: Literal["ok", "warning", "error"]
    code: str | None = None
    message: str = ""


async def check(url: str, kafka: KafkaSettings, postgres: PostgresSettings) -> list[Finding]:
    """All looks, in the order in which things depend on each other."""
    looks: list[tuple[str, Callable[[], Awaitable[list[Finding]]]]] = [
        ("postgres", lambda: _postgres(postgres.dsn.get_secret_value())),
        ("broker", lambda: _broker(kafka)),
        ("model", _model),
        ("query", lambda: _query(url)),
    ]
    return [finding for name, look in looks for finding in await _caught(name, look)]


async def _caught(name: str, look: Callable[[], Awaitable[list[Finding]]]) -> list[Finding]:
    try:
        return await look()
    except Exception as error:
        failure = as_failure(error)
        if failure is None:
            raise
        return [Finding(name, "error", failure.code, failure.reason)]


async def _postgres(dsn: str) -> list[Finding]:
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:

        async def rows(statement: str) -> list[tuple[object, ...]]:
            return await (await connection.execute(statement.encode())).fetchall()

        [(is_there,)] = await rows("select to_regclass('migration') is not null")
        done = {row[0] for row in await rows("select name from migration")} if is_there else set()
        has_pgvector = bool(await rows("select 1 from pg_extension where extname = 'vector'"))
    missing = [step.name for step in all_migrations() if step.name not in done]
    found = [Finding("postgres", "ok")]
    if missing:
        found.append(Finding("migrations", "error", Code.CONFLICT, f"kb migrate: {', '.join(missing)}"))
    else:
        found.append(Finding("migrations", "ok"))
    warning = Finding("pgvector", "warning", Code.W002, CATALOGUE[Code.W002].meaning)
    found.append(Finding("pgvector", "ok") if has_pgvector else warning)
    return found


async def _broker(settings: KafkaSettings) -> list[Finding]:
    admin = AIOKafkaAdminClient(**client_options(settings))
    try:
        await admin.start()
        there = set(await admin.list_topics())
    finally:
        await admin.close()
    missing = [topic.name for topic in planned(settings) if topic.name not in there]
    if missing:
        return [
            Finding("broker", "ok"),
            Finding("topics", "error", Code.NOT_FOUND, f"kb topics apply: {', '.join(missing)}"),
        ]
    return [Finding("broker", "ok"), Finding("topics", "ok")]


async def _model() -> list[Finding]:
    settings = EncoderSettings()
    encoder = await open_encoder(settings)
    if encoder is None:
        return [Finding("model", "warning", Code.W001, CATALOGUE[Code.W001].meaning)]
    await encoder.aclose()
    return [Finding("model", "ok", None, encoder.space.name)]


async def _query(url: str) -> list[Finding]:
    try:
        async with httpx.AsyncClient(trust_env=False, timeout=5.0) as client:
            status = (await client.get(f"{url}/readyz")).status_code
    except httpx.TransportError as error:
        return [Finding("query", "error", Code.SEARCH_UNAVAILABLE, f"no answer from {url}: {error}")]
    if status != httpx.codes.OK:
        return [Finding("query", "error", Code.SEARCH_UNAVAILABLE, f"{url}/readyz answers {status}")]
    return [Finding("query", "ok", None, url)]
