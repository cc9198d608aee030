"""The pool, and transactions whose errors say what happens next."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

import psycopg
from psycopg import AsyncConnection, sql
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from schemas.codes import Code
from services.chassis.errors import DependencyDown
from services.chassis.failpoints import failpoint
from services.chassis.settings import PostgresSettings

Connection = AsyncConnection[TupleRow]

# Classes of SQLSTATE that pass by themselves: connection, resources, operator's intervention, lost against another.
_PASSING_CLASSES = frozenset({"08", "40", "53", "57"})
# Lock not available, read-only server, idle too long, password (while it is being changed).
_PASSING_STATES = frozenset({"55P03", "25006", "25P03", "28P01"})


def passes(error: BaseException | None) -> bool:
    """Whether the same can be done again later, as it is."""
    if not isinstance(error, (psycopg.Error, PoolTimeout)):
        return False
    state = getattr(error, "sqlstate", None)
    if state is None:
        return isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout))
    return state[:2] in _PASSING_CLASSES or state in _PASSING_STATES


_TRUST_SECONDS = 5.0


class Postgres:
    """A pool of connections. Failures that pass are raised as DependencyDown(POSTGRES_DOWN)."""

    def __init__(self, settings: PostgresSettings) -> None:
        self._role = settings.role
        self._used: WeakKeyDictionary[Connection, float] = WeakKeyDictionary()
        self._pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            settings.dsn.get_secret_value(),
            min_size=1,
            max_size=settings.pool,
            timeout=settings.timeout,
            configure=self._configure,
            check=self._check,
            open=False,
            kwargs={"application_name": "agent-knowledge-base"},
        )

    async def _configure(self, connection: Connection) -> None:
        if self._role:
            await connection.execute(sql.SQL("set role {}").format(sql.Identifier(self._role)))
            await connection.commit()

    async def _check(self, connection: Connection) -> None:
        # One that was in use a moment ago is taken as it is: asking the server each time costs as much as a statement.
        if time.monotonic() - self._used.get(connection, 0.0) > _TRUST_SECONDS:
            await AsyncConnectionPool.check_connection(connection)

    async def open(self) -> None:
        """Connect once, so that a wrong setting ends the start. Raises DependencyDown."""
        with passing_errors():
            await self._pool.open(wait=True)

    async def close(self) -> None:
        """Give all connections back."""
        await self._pool.close()

    @asynccontextmanager
    async def transaction(self, organization_id: UUID | None = None) -> AsyncIterator[Connection]:
        """A transaction, committed at the end. With an organization, row-level security sees that one."""
        with passing_errors():
            async with self._pool.connection() as connection:
                if organization_id is not None:
                    await connection.execute(
                        "select set_config('app.organization_id', %s, true)", (str(organization_id),)
                    )
                yield connection
                failpoint("before-postgres-commit")
                self._used[connection] = time.monotonic()
            failpoint("after-postgres-commit")

    async def alone(self, name: str, statement: Any, settings: Mapping[str, str] = MappingProxyType({})) -> bool:
        """Run a statement that can't be in a transaction, unless another process is running one under that name.

        `settings` are the server's for this statement.
        """
        with passing_errors():
            async with self._pool.connection() as connection:
                await connection.set_autocommit(True)
                try:
                    locked = await connection.execute("select pg_try_advisory_lock(hashtext(%s))", (name,))
                    if (await locked.fetchone() or (False,))[0] is False:
                        return False
                    try:
                        for given in settings.items():
                            await connection.execute("select set_config(%s, %s, false)", given)
                        await connection.execute(statement)
                    finally:
                        for setting in settings:
                            await connection.execute(sql.SQL("reset {}").format(sql.Identifier(setting)))
                        await connection.execute("select pg_advisory_unlock(hashtext(%s))", (name,))
                finally:
                    await connection.set_autocommit(False)
        return True

    async def fetch(self, query: Any, parameters: Any = None) -> list[TupleRow]:
        """The rows of one statement, in a transaction of its own."""
        async with self.transaction() as connection:
            return await (await connection.execute(query, parameters)).fetchall()


class passing_errors:  # noqa: N801  # reads as a statement: `with passing_errors():`
    """Turns errors of Postgres that pass by themselves into DependencyDown."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if passes(error):
            raise DependencyDown(Code.POSTGRES_DOWN, str(error) or repr(error)) from error
