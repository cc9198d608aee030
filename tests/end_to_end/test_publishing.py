"""What publishers and the organizations behind them can count on."""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from pathlib import Path
from uuid import UUID, uuid4

import httpx
from aiokafka import AIOKafkaProducer
from jsonschema import Draft202012Validator

from tests.support.messages import read_all
from tests.support.pipeline import WORKERS, Pipeline, text_source
from tests.support.processes import eventually_async

SCHEMA = Path(__file__).parents[2] / "schemas" / "json" / "kb.source.submitted.v1.json"


async def test_a_plain_producer_that_follows_the_schema_gets_a_status_and_chunks(made: Pipeline) -> None:
    await made.start((*WORKERS, "query"), own={"KB_QUERY_OPEN": "true"})
    organization = str(uuid4())
    data = {
        "organization_id": organization,
        "external_id": "handbook/holidays",
        "kind": "text",
        "media_type": "text/markdown",
        "text": "# Holidays\n\nEverybody has thirty days.\n\n## Carrying over\n\nUntil the end of March.",
    }
    Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(data)
    producer = AIOKafkaProducer(bootstrap_servers=made.kafka.bootstrap)
    await producer.start()
    headers = [
        ("ce_specversion", b"1.0"),
        ("ce_id", b"1"),
        ("ce_source", b"/handbook"),
        ("ce_type", b"kb.source.submitted.v1"),
        ("content-type", b"application/json"),
    ]
    topic = made.kafka.topic_prefix + "kb.source.events.v1"
    await producer.send_and_wait(topic, json.dumps(data).encode(), headers=headers)
    await producer.stop()
    (status,) = await read_all(made.kafka.bootstrap, made.kafka.topic_prefix + "kb.source.status.v1", 1)
    told = json.loads(status.value)
    assert dict(status.headers)["ce_type"] == b"kb.source.indexed.v1"
    assert told["external_id"] == "handbook/holidays"
    assert (told["organization_id"], told["revision"], told["chunk_count"]) == (organization, 1, 1)
    async with httpx.AsyncClient(base_url=made.fleet.url("query"), headers={"X-Organization": organization}) as client:
        answer = (await client.post("/v1/search", json={"query": "how many days of holidays are there"})).json()
    hit = answer["hits"][0]
    assert "thirty days" in hit["text"]
    assert (hit["source_id"], hit["heading_path"]) == (told["source_id"], ["Holidays"])
    async with httpx.AsyncClient(base_url=made.fleet.url("query"), headers={"X-Organization": str(uuid4())}) as other:
        assert (await other.post("/v1/search", json={"query": "thirty days"})).json()["hits"] == []


async def test_a_document_that_cannot_be_read_is_failed_with_code_and_reason(made: Pipeline) -> None:
    await made.start()
    organization = uuid4()
    await made.publish(
        text_source(organization, "empty", text=""),
        text_source(organization, "nowhere", kind="url", url="http://127.0.0.1:9/x", text=None),
        text_source(organization, "no url", kind="url", url="ftp://example.org/x", text=None),
    )
    await made.settled(organization, 3)
    found = dict(made.rows("select external_id, error_code from knowledge_source"))
    assert found == {"empty": "EMPTY", "nowhere": "FETCH_FAILED", "no url": "URL_INVALID"}
    await eventually_async(lambda: _all_told(made, 3))


async def _all_told(made: Pipeline, count: int) -> bool:
    rows = made.rows("select data ->> 'code' from source_event where published_at is not null")
    return len(rows) == count and all(code for (code,) in rows)


async def seconds_to_ready(made: Pipeline, organization: UUID, name: str) -> float:
    begun = time.monotonic()
    await made.publish(text_source(organization, name))
    await made.settled(organization, 1)
    return time.monotonic() - begun


async def test_a_long_queue_of_one_organization_does_not_hold_up_another(made: Pipeline, provider: object) -> None:
    await made.start()
    await seconds_to_ready(made, uuid4(), "the first is slow")
    idle = statistics.median([await seconds_to_ready(made, uuid4(), "idle") for _ in range(5)])
    greedy = uuid4()
    await made.publish(text_source(greedy, "body"))
    await made.settled(greedy, 1)
    made.rows(
        """insert into knowledge_source (organization_id, id, knowledge_base_id, kind, external_id, body_key,
               media_type, stage, due_at, wish_time)
           select organization_id, gen_random_uuid(), knowledge_base_id, 'text', 'queued ' || n, body_key, media_type,
               'queued', now(), now()
           from knowledge_source, generate_series(1, 10000) n where organization_id = %s returning 1""",
        greedy,
    )
    await eventually_async(lambda: _some_ready(made, greedy, 20))
    busy = statistics.median([await seconds_to_ready(made, uuid4(), "busy") for _ in range(5)])
    waiting = made.statuses(greedy)["pending"]
    assert waiting > 5000, "the queue was there all the time"
    assert busy < 3 * idle, (busy, idle)


async def _some_ready(made: Pipeline, organization: UUID, count: int) -> bool:
    await asyncio.sleep(0)
    return made.statuses(organization).get("ready", 0) >= count
