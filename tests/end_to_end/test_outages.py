"""Dependencies that go away and come back: everything ends ready, or failed with its code, without help."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from services.chassis.embedded.broker import EmbeddedBroker
from services.chassis.embedded.ports import free_port
from services.chassis.embedded.postgres import EmbeddedPostgres
from services.chassis.provisioning import apply_topics
from services.cli.fleet import Fleet
from tests.end_to_end.conftest import DIMENSIONS
from tests.support.kafka import ApacheKafka, kafka_missing
from tests.support.pipeline import QUICK, WORKERS, Pipeline, pipeline, provider_env, text_source
from tests.support.processes import require
from tests.support.provider import EmbeddingProvider, Fault, ServedLimits

Server = EmbeddedBroker | ApacheKafka


@pytest.fixture(params=["tansu", pytest.param("kafka", marks=pytest.mark.kafka)])
def own_broker(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    """A broker that the test may restart."""
    if request.param == "kafka":
        require(kafka_missing())
        (tmp_path / "kafka").mkdir()
    with ApacheKafka(tmp_path / "kafka") if request.param == "kafka" else EmbeddedBroker() as server:
        yield server


@pytest.fixture
async def fragile(own_broker: Server, provider: EmbeddingProvider, tmp_path: Path) -> AsyncIterator[Pipeline]:
    """A pipeline whose servers are its own."""
    with EmbeddedPostgres(tmp_path / "postgres", fast=True) as postgres:
        env = QUICK | provider_env(provider, DIMENSIONS)
        idempotent = isinstance(own_broker, ApacheKafka)
        async with pipeline(
            postgres.dsn, own_broker.bootstrap_servers, tmp_path, idempotent=idempotent, env=env, partitions=2
        ) as made:
            made.postgres = postgres
            yield made


@pytest.mark.slow
async def test_the_broker_restarts_in_the_middle(fragile: Pipeline, own_broker: Server) -> None:
    organization = uuid4()
    await fragile.start()
    await fragile.publish(*(text_source(organization, f"before {n}") for n in range(30)))
    await fragile.taken(organization, 30)
    if isinstance(own_broker, EmbeddedBroker):
        # It comes back empty, and would take the offsets of before for those of the new topics: its supervisor ends
        # the services first, as here.
        await asyncio.to_thread(own_broker.kill)
        await fragile.stop()
        await asyncio.to_thread(own_broker.start)
        await apply_topics(fragile.kafka)
        await fragile.start()
    else:
        await asyncio.to_thread(own_broker.kill)
        await asyncio.to_thread(own_broker.start)
    # The group has to notice, and the killed broker to look through its log.
    assert await fragile.settled(organization, 30, seconds=120) == {"ready": 30}
    await fragile.publish(*(text_source(organization, f"after {n}") for n in range(10)))
    assert await fragile.settled(organization, 40) == {"ready": 40}


@pytest.mark.slow
async def test_postgres_restarts_in_the_middle(fragile: Pipeline) -> None:
    organization = uuid4()
    await fragile.start()
    publishing = asyncio.create_task(
        fragile.publish(*(text_source(organization, f"source {n}", paragraphs=1 + n % 4) for n in range(60)))
    )
    for _ in range(2):
        await asyncio.sleep(0.5)
        await asyncio.to_thread(fragile.postgres.kill)
        await asyncio.to_thread(fragile.postgres.start)
    await publishing
    assert await fragile.settled(organization, 60) == {"ready": 60}
    assert all(child.exit_code is None for child in fragile.running)
    assert fragile.rows("select count(*) from knowledge_source where attempts > 0") == [(0,)]


FAULTS = {
    "429 with Retry-After": Fault("status", times=3, status=429, retry_after="1"),
    "500": Fault("status", times=4, status=500),
    "time-out": Fault("hang", times=2),
    "dropped connection": Fault("drop", times=3),
    "wrong dimensions": Fault("dimensions", times=2),
    "zero vector": Fault("zeros", times=2),
    "NaN": Fault("nan", times=2),
}


@pytest.mark.timeout(300)
async def test_a_provider_that_recovers_leaves_no_trace(made: Pipeline, provider: EmbeddingProvider) -> None:
    await made.start(own={"KB_EMBEDDING_TIMEOUT": "1"})
    for name, fault in FAULTS.items():
        organization = uuid4()
        provider.fail(fault)
        await made.publish(*(text_source(organization, f"source {n}", paragraphs=2) for n in range(6)))
        assert await made.settled(organization, 6) == {"ready": 6}, name
        query = "select sum(chunks)::int, count(*)::int from embedding_usage where organization_id = %s"
        assert made.rows(query, organization) == [(6, 6)], name
        query = "select count(*) from chunk_vector_1 where organization_id = %s"
        assert made.rows(query, organization) == [(6,)], name
        assert provider.faults_left == 0, name


async def test_a_400_for_size_is_answered_by_smaller_requests(made: Pipeline, provider: EmbeddingProvider) -> None:
    organization = uuid4()
    provider.limits = ServedLimits(max_inputs=5)
    await made.start()
    await made.publish(text_source(organization, "long", paragraphs=30, words=220))
    assert await made.settled(organization, 1) == {"ready": 1}
    ((chunks,),) = made.rows("select count(*) from chunk")
    assert chunks > 20
    assert made.rows("select sum(chunks) from embedding_usage") == [(chunks,)]


async def test_a_fault_that_stays_fails_the_source_with_its_code(made: Pipeline, provider: EmbeddingProvider) -> None:
    organization = uuid4()
    await made.start(own={"KB_LEDGER_ATTEMPTS": "3"})
    provider.fail(Fault("dimensions", times=50))
    await made.publish(text_source(organization, "unlucky"))
    assert await made.settled(organization, 1) == {"failed": 1}
    ((code, reason),) = made.rows("select error_code, error_reason from knowledge_source")
    assert code == "WRONG_DIMENSIONS"
    assert str(DIMENSIONS) in reason
    ((told,),) = made.rows("select data from source_event where type = 'kb.source.failed.v1'")
    assert told["code"] == "WRONG_DIMENSIONS"


async def test_without_a_broker_at_the_start_a_process_ends_with_an_error(database: str, tmp_path: Path) -> None:
    fleet = Fleet(database, f"127.0.0.1:{free_port()}", tmp_path)
    children = fleet.children(WORKERS)
    for child in children:
        child.start()
    async with asyncio.timeout(90):
        await asyncio.gather(*(child.ended() for child in children))
    for child in children:
        assert child.exit_code == 1, child.name
        assert "BROKER_DOWN" in child.log_path.read_text(), child.name
