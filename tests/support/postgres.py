"""The fixtures `shared_postgres`, one server for the whole run, and `database`, a fresh one for each test."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from services.chassis.embedded.postgres import EmbeddedPostgres


class SharedPostgres:
    """A server that makes databases. It does not sync, so it is quick and loses all in a crash of the machine."""

    def __init__(self, folder: Path) -> None:
        self.server = EmbeddedPostgres(folder, fast=True)
        self._numbers = count(1)

    def create_database(self, template: str | None = None) -> str:
        """The URI of a new database, empty or a copy of another, to which nobody may be connected."""
        name = f"test_{next(self._numbers)}"
        statement = sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name))
        if template is not None:
            statement += sql.SQL(" TEMPLATE {}").format(sql.Identifier(template))
        self._run(statement)
        return self.server.dsn_of(name)

    def drop_database(self, dsn: str) -> None:
        """Also ends the sessions in it."""
        name = str(psycopg.conninfo.conninfo_to_dict(dsn)["dbname"])
        self._run(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    def _run(self, statement: sql.Composed) -> None:
        with psycopg.connect(self.server.dsn, autocommit=True) as connection:
            connection.execute(statement)


@pytest.fixture(scope="session")
def shared_postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedPostgres]:
    """Tests make databases of their own on it."""
    folder = tmp_path_factory.mktemp("postgres")
    shared = SharedPostgres(folder)
    with shared.server:
        yield shared
    shutil.rmtree(folder)


@pytest.fixture
def database(shared_postgres: SharedPostgres) -> Iterator[str]:
    """The URI of an empty database, gone after the test."""
    dsn = shared_postgres.create_database()
    yield dsn
    shared_postgres.drop_database(dsn)
