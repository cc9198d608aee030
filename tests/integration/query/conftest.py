from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from uuid import UUID, uuid4

import pytest

from services.chassis.migrations import migrate
from services.query.settings import AccessSettings
from tests.integration.query.large import large
from tests.integration.query.rows import Rows, WordEncoder
from tests.integration.query.service import Service, running
from tests.support.postgres import SharedPostgres, shared_postgres

__all__ = ["large", "shared_postgres"]


@pytest.fixture(scope="session")
def migrated(shared_postgres: SharedPostgres) -> str:
    """The name of a database with the schema, to copy."""
    dsn = shared_postgres.create_database()
    migrate(dsn)
    return dsn.rpartition("/")[2].partition("?")[0]


@pytest.fixture(scope="module")
def dsn(shared_postgres: SharedPostgres, migrated: str) -> Iterator[str]:
    """A database for the tests of a module, which use organizations of their own."""
    dsn = shared_postgres.create_database(template=migrated)
    yield dsn
    shared_postgres.drop_database(dsn)


@pytest.fixture(scope="module")
def rows(dsn: str) -> Rows:
    return Rows(dsn)


@pytest.fixture(scope="module")
def public_organization() -> UUID:
    return uuid4()


@pytest.fixture
async def service(dsn: str, rows: Rows, public_organization: UUID) -> AsyncIterator[Service]:
    """Asks for keys."""
    access = AccessSettings(public_organization=public_organization)
    async with running(dsn, access=access, encoder=WordEncoder()) as found:
        yield found
