"""A pipeline on each kind of broker, with a model provider of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.support.kafka import Broker
from tests.support.pipeline import QUICK, Pipeline, pipeline, provider_env
from tests.support.postgres import SharedPostgres
from tests.support.provider import EmbeddingProvider

DIMENSIONS = 32


@pytest.fixture
def provider() -> Iterator[EmbeddingProvider]:
    with EmbeddingProvider(dimensions=DIMENSIONS) as server:
        yield server


@pytest.fixture
async def made(
    broker: Broker, shared_postgres: SharedPostgres, provider: EmbeddingProvider, tmp_path: Path
) -> AsyncIterator[Pipeline]:
    """Nothing of it runs yet."""
    dsn = shared_postgres.create_database()
    env = QUICK | provider_env(provider, DIMENSIONS)
    async with pipeline(
        dsn, broker.bootstrap_servers, tmp_path, idempotent=broker.transactions, env=env, partitions=2
    ) as ready:
        yield ready
    shared_postgres.drop_database(dsn)
