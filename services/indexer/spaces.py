"""The vector tables of the embedding spaces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from psycopg import sql

from schemas.codes import Code
from services.chassis.errors import EventRefused
from services.chassis.postgres import Connection, Postgres
from services.chassis.queries import load_queries

_SQL = load_queries("services.indexer", "revision.sql")


def table_of(space_id: int) -> sql.Identifier:
    """The table of a space."""
    return sql.Identifier(f"chunk_vector_{space_id}")


def signs_of(space_id: int) -> sql.Identifier:
    """The table of the signs of a space's vectors, which large organizations have."""
    return sql.Identifier(f"chunk_signs_{space_id}")


class Spaces:
    """Finds spaces by name. They are registered by whoever embeds."""

    def __init__(self, postgres: Postgres) -> None:
        self._postgres = postgres
        self._ids: dict[str, int] = {}

    async def _all(self, connection: Connection) -> list[int]:
        # On the caller's connection: one that waits for a second while it holds a first could wait for itself.
        rows = await (await connection.execute(_SQL["spaces"])).fetchall()
        self._ids = {name: id_ for id_, name in rows}
        return list(self._ids.values())

    async def id_of(self, name: str) -> int:
        """The number of the space. Raises EventRefused(WRONG_DIMENSIONS) for one that was never registered."""
        if name not in self._ids:
            async with self._postgres.transaction() as connection:
                await self._all(connection)
        try:
            return self._ids[name]
        except KeyError:
            raise EventRefused(Code.WRONG_DIMENSIONS, f"no embedding space is called {name}") from None

    async def present(
        self, connection: Connection, space_id: int, keys: Sequence[tuple[UUID, UUID]]
    ) -> set[tuple[UUID, UUID]]:
        """Organization and chunk of the vectors that sources have in the space. `keys` are organization and source."""
        query = sql.SQL(
            "select v.organization_id, v.chunk_id "
            "from unnest(%s::uuid[], %s::uuid[]) as asked (organization_id, source_id) "
            "join {} v using (organization_id, source_id)"
        ).format(table_of(space_id))
        organizations, sources = [key[0] for key in keys], [key[1] for key in keys]
        rows = await (await connection.execute(query, (organizations, sources))).fetchall()
        return {(row[0], row[1]) for row in rows}

    async def write(
        self, connection: Connection, space_id: int, rows: Iterable[tuple[UUID, UUID, UUID, bytes]]
    ) -> None:
        """Add vectors: organization, source, chunk, halfvec in its binary form."""
        query = sql.SQL("copy {} (organization_id, source_id, chunk_id, embedding) from stdin (format binary)")
        async with connection.cursor().copy(query.format(table_of(space_id))) as copy:
            # A binary copy takes the bytes of any type as they are.
            copy.set_types(["uuid", "uuid", "uuid", "bytea"])
            for row in rows:
                await copy.write_row(row)

    async def drop(self, connection: Connection, chunks: Sequence[tuple[UUID, UUID, UUID]]) -> None:
        """Take the chunks' vectors out of every space."""
        columns = [[row[at] for row in chunks] for at in range(3)]
        for table in await self._tables(connection):
            query = sql.SQL(
                "delete from {} v using unnest(%s::uuid[], %s::uuid[], %s::uuid[]) "
                "as gone (organization_id, source_id, chunk_id) where (v.organization_id, v.source_id, v.chunk_id) "
                "= (gone.organization_id, gone.source_id, gone.chunk_id)"
            )
            await connection.execute(query.format(table), columns)

    async def drop_source(self, connection: Connection, organization_id: UUID, source_id: UUID) -> None:
        """Take a source's vectors out of every space."""
        for table in await self._tables(connection):
            query = sql.SQL("delete from {} where organization_id = %s and source_id = %s")
            await connection.execute(query.format(table), (organization_id, source_id))

    async def _tables(self, connection: Connection) -> list[sql.Identifier]:
        """All tables that hold something of a chunk's vector."""
        spaces = await self._all(connection)
        return [table for space_id in spaces for table in (table_of(space_id), signs_of(space_id))]
