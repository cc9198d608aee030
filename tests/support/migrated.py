"""Fixtures for tests on the migrated schema: a template for the run, a database a module, connections a test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import psycopg
import pytest
from pydantic import SecretStr

from services.chassis.migrations import migrate
from services.chassis.postgres import Postgres
from services.chassis.settings import PostgresSettings
from tests.support.postgres import SharedPostgres


class Tables:
    """Statements as the superuser, whom row-level security does not hold, each committed at once."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self._connection: psycopg.Connection[Any] = psycopg.connect(dsn, autocommit=True)

    def rows(self, query: Any, *parameters: Any) -> list[tuple[Any, ...]]:
        """Rows of the statement; none where it gives none."""
        cursor = self._connection.execute(query, parameters or None)
        return cursor.fetchall() if cursor.description else []

    def named(self, query: Any, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
        """The same with parameters by name."""
        return self._connection.execute(query, parameters).fetchall()

    def row(self, query: Any, *parameters: Any) -> tuple[Any, ...]:
        """Its one row."""
        (row,) = self.rows(query, *parameters)
        return row

    def forget_all(self) -> None:
        """Take everything out but what migrations put in, and spaces."""
        self.rows(
            "truncate knowledge_source, knowledge_base, organization, api_key, taken_event, source_event, stage_pause, "
            "embedding_usage, chunk, chunk_place, chunk_words, revision_batch, word_statistics, "
            "word_frequency, word_top cascade"
        )
        for (space,) in self.rows("select id from embedding_space"):
            self.rows(f"truncate chunk_vector_{space}, chunk_signs_{space}, vector_sample_{space}")

    def close(self) -> None:
        self._connection.close()


def pipeline_postgres(dsn: str, pool: int = 6) -> Postgres:
    """A pool as services of the pipeline have it: with their role, not the superuser's."""
    return Postgres(PostgresSettings(dsn=SecretStr(dsn), role="kb_pipeline", pool=pool))


@pytest.fixture(scope="session")
def migrated_template(shared_postgres: SharedPostgres) -> str:
    """The name of a database with the schema, to copy."""
    dsn = shared_postgres.create_database()
    migrate(dsn)
    return str(psycopg.conninfo.conninfo_to_dict(dsn)["dbname"])


@pytest.fixture(scope="module")
def migrated(shared_postgres: SharedPostgres, migrated_template: str) -> Iterator[str]:
    """The URI of a database for the tests of a module."""
    dsn = shared_postgres.create_database(template=migrated_template)
    yield dsn
    shared_postgres.drop_database(dsn)


@pytest.fixture
def tables(migrated: str) -> Iterator[Tables]:
    """The module's database, emptied for the test."""
    found = Tables(migrated)
    found.forget_all()
    yield found
    found.close()


@pytest.fixture
async def postgres(migrated: str) -> AsyncIterator[Postgres]:
    """A pool on the module's database."""
    found = pipeline_postgres(migrated)
    await found.open()
    yield found
    await found.close()
