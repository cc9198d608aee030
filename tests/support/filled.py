"""A database of ready-made chunks and vectors, written as the indexer leaves them, without its pipeline in front."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from hashlib import sha256
from uuid import NAMESPACE_OID, UUID, uuid5

import numpy as np
import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb

from schemas.identifiers import chunk_id
from schemas.words import words_of
from services.chassis.migrations import migrate
from services.chassis.postgres import Postgres
from services.chassis.settings import PostgresSettings
from services.indexer.settings import UpkeepSettings
from services.indexer.upkeep import Upkeep

CHUNKS_PER_SOURCE = 20
_TABLES = {
    "knowledge_source": ("organization_id id knowledge_base_id kind status live_revision chunk_count wish_time title",
                         "uuid uuid uuid text text int8 int4 timestamptz text"),
    "chunk": ("organization_id source_id id content_hash token_count text", "uuid uuid uuid bytea int4 text"),
    "chunk_place": ("organization_id source_id chunk_id ordinal start_at end_at heading_path locator",
                    "uuid uuid uuid int4 int4 int4 text[] jsonb"),
}  # fmt: skip


def organization_id(number: int) -> UUID:
    """The organization of a workload's number."""
    return uuid5(NAMESPACE_OID, f"organization {number}")


def _sources(organization: UUID, rows: Sequence[int]) -> Iterator[tuple[UUID, Sequence[int]]]:
    for some in _pieces(rows, CHUNKS_PER_SOURCE):
        yield uuid5(organization, f"source {some[0]}"), some


def rows_of(organizations: Sequence[int]) -> dict[UUID, int]:
    """Which row of a workload each chunk is, for a database that was filled before."""
    return {
        chunk_id(source, str(row), 0): row
        for number, rows in _members(organizations).items()
        for source, some in _sources(organization_id(number), rows)
        for row in some
    }


def _members(organizations: Sequence[int]) -> dict[int, list[int]]:
    members: dict[int, list[int]] = defaultdict(list)
    for row, number in enumerate(organizations):
        members[int(number)].append(row)
    return members


def _pieces(rows: Sequence[int], length: int) -> Iterator[Sequence[int]]:
    for at in range(0, len(rows), length):
        yield rows[at : at + length]


class Filled:
    """Writes chunks into a migrated database. `row_of` tells which row of the workload a chunk is."""

    def __init__(self, dsn: str, dimensions: int) -> None:
        migrate(dsn)
        self.dsn = dsn
        self.dimensions = dimensions
        self.row_of: dict[UUID, int] = {}
        with psycopg.connect(dsn) as connection:
            cursor = connection.execute("select register_space(%s, %s)", (f"ready/made@{dimensions}", dimensions))
            [(self.space_id,)] = cursor.fetchall()

    def write(self, texts: Sequence[str], vectors: np.ndarray, organizations: Sequence[int]) -> None:
        """Write rows, twenty to a source. `vectors` is float32[rows, dimensions]."""
        self.row_of.update(rows_of(organizations))
        with closing(psycopg.connect(self.dsn)) as connection:
            for number, rows in _members(organizations).items():
                for some in _pieces(rows, 2000):
                    self._write_some(connection, organization_id(number), number, some, texts, vectors)
                connection.commit()

    def _write_some(
        self,
        connection: psycopg.Connection,
        organization: UUID,
        number: int,
        rows: Sequence[int],
        texts: Sequence[str],
        vectors: np.ndarray,
    ) -> None:
        base = uuid5(organization, "base")
        connection.execute("select ensure_organization(%s, %s)", (organization, base))
        sources = list(_sources(organization, rows))
        keyed = [(source, chunk_id(source, str(row), 0), row, place) for source, some in sources
                 for place, row in enumerate(some)]  # fmt: skip
        self._copy(connection, "knowledge_source", (
            (organization, source, base, "text", "ready", 1, len(some), "2024-01-01", f"Source {some[0]}")
            for source, some in sources))  # fmt: skip
        self._copy(connection, "chunk", (
            (organization, source, chunk, sha256(texts[row].encode()).digest(), len(texts[row]) // 4 + 1, texts[row])
            for source, chunk, row, _ in keyed))  # fmt: skip
        self._copy(connection, "chunk_place", (
            (organization, source, chunk, place, 0, len(texts[row]), [], Jsonb({}))
            for source, chunk, row, place in keyed))  # fmt: skip
        cut = [words_of(texts[row]) for _, _, row, _ in keyed]
        connection.execute(
            "insert into chunk_words select %s, s, c, words_of('en', p, v) "
            "from unnest(%s::uuid[], %s::uuid[], %s::text[], %s::text[]) as w (s, c, p, v)",
            (organization, [key[0] for key in keyed], [key[1] for key in keyed],
             [words.prose for words in cut], [words.vector() for words in cut]),
        )  # fmt: skip
        head = struct.pack(">HH", self.dimensions, 0)
        halves = vectors[[row for _, _, row, _ in keyed]].astype(">f2")
        table = sql.Identifier(f"chunk_vector_{self.space_id}")
        statement = sql.SQL("copy {} (organization_id, source_id, chunk_id, embedding) from stdin (format binary)")
        with connection.cursor().copy(statement.format(table)) as copy:
            copy.set_types(["uuid", "uuid", "uuid", "bytea"])
            for (source, chunk, _, _), half in zip(keyed, halves, strict=True):
                copy.write_row((organization, source, chunk, head + half.tobytes()))

    @staticmethod
    def _copy(connection: psycopg.Connection, table: str, rows: Iterator[tuple[object, ...]]) -> None:
        names, types = _TABLES[table]
        statement = sql.SQL("copy {} ({}) from stdin").format(
            sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, names.split()))
        )
        with connection.cursor().copy(statement) as copy:
            copy.set_types(types.split())
            for row in rows:
                copy.write_row(row)

    async def keep_up(self, settings: UpkeepSettings | None = None) -> None:
        """Let the indexer's upkeep make what it makes, and Postgres gather its statistics."""
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute("vacuum analyze")
        postgres = Postgres(PostgresSettings(dsn=self.dsn))
        await postgres.open()
        try:
            await Upkeep(postgres, settings or UpkeepSettings()).turn()
        finally:
            await postgres.close()
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute("vacuum analyze")
