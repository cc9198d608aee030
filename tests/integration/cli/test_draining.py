"""`kb drain`: what is outstanding in the ledger and on the topics."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import psycopg
from pydantic import SecretStr

from schemas.events import SourceSubmitted
from schemas.topics import SOURCE_EVENTS
from services.chassis.embedded.broker import EmbeddedBroker
from services.chassis.migrations import migrate
from services.chassis.provisioning import apply_topics
from services.chassis.settings import KafkaSettings, PostgresSettings
from services.cli.draining import drain
from tests.support.messages import send


async def test_messages_and_sources_are_counted_until_they_are_gone(
    shared_tansu: EmbeddedBroker, database: str, tmp_path: Path
) -> None:
    kafka = KafkaSettings(bootstrap=shared_tansu.bootstrap_servers, topic_prefix=f"w{uuid4().hex[:8]}.")
    postgres = PostgresSettings(dsn=SecretStr(database))
    migrate(database)
    await apply_topics(kafka)
    assert not any(await drain(kafka, postgres, 5))

    wish = SourceSubmitted(organization_id=uuid4(), kind="text", text="x", external_id="x")
    await send(kafka.bootstrap, kafka.topic_prefix + SOURCE_EVENTS.name, wish, wish)
    with psycopg.connect(database, autocommit=True) as connection:
        organization, base = uuid4(), uuid4()
        connection.execute("select ensure_organization(%s, %s)", (organization, base))
        connection.execute(
            "insert into knowledge_source (organization_id, id, knowledge_base_id, kind, wish_time) "
            "values (%s, %s, %s, 'text', now())",
            (organization, uuid4(), base),
        )
        left = await drain(kafka, postgres, 0.1)
        assert (left.messages, left.sources, left.events) == (2, 1, 0)
        connection.execute("update knowledge_source set archived_at = now()")
        assert (await drain(kafka, postgres, 0.1)).sources == 0
