"""HNSW indexes of single organizations: made for large ones, dropped when those shrink."""

from __future__ import annotations

from uuid import UUID

import structlog
from psycopg import sql

from services.chassis.postgres import Postgres
from services.chassis.queries import load_queries
from services.indexer.settings import UpkeepSettings
from services.indexer.spaces import signs_of, table_of

log = structlog.get_logger()

_SQL = load_queries("services.indexer", "upkeep.sql")

# Of pgvector. More links cost little here, and keep the last of a thousand neighbours reachable.
_BUILD = {"m": 16, "ef_construction": 128}
_LEAST_MEMORY_MB = 64


def graph_bytes(dimensions: int) -> int:
    """What a vector takes while its index is built: 2 bytes a dimension, and its links with room to spare.

    A graph that does not fit into memory is finished on disk, some ten times as slowly.
    """
    return 2 * dimensions + 48 * _BUILD["m"]


class VectorIndexes:
    """One index for each organization and space with enough vectors. Built while searches and writes go on."""

    def __init__(self, postgres: Postgres, settings: UpkeepSettings) -> None:
        self._postgres = postgres
        self._settings = settings

    async def turn(self) -> None:
        """Make and drop indexes as the sizes of the organizations ask for."""
        for space_id, dimensions in await self._postgres.fetch(_SQL["spaces"]):
            await self._look_after(space_id, dimensions)

    async def _look_after(self, space_id: int, dimensions: int) -> None:
        prefix = f"chunk_vector_{space_id}_hnsw_"
        table = {"table": f"chunk_vector_{space_id}", "names": prefix.replace("_", r"\_") + "%"}
        sizes = await self._sizes(space_id)
        kept = set()
        for name, is_valid in await self._postgres.fetch(_SQL["indexes"], table):
            count = sizes.get(UUID(name.removeprefix(prefix)), 0)
            if is_valid and count >= self._settings.index_chunks * 3 // 4:
                kept.add(name)
            else:
                await self._drop(name)
        for organization_id, count in sizes.items():
            name = prefix + organization_id.hex
            if count >= self._settings.index_chunks and name not in kept:
                await self._build(space_id, organization_id, name, count * graph_bytes(dimensions))

    async def _sizes(self, space_id: int) -> dict[UUID, int]:
        query = sql.SQL("select organization_id, count(*) from {} group by organization_id").format(signs_of(space_id))
        return dict(await self._postgres.fetch(query))

    async def _build(self, space_id: int, organization_id: UUID, name: str, size: int) -> None:
        statement = sql.SQL(
            "create index concurrently if not exists {} on {} using hnsw (embedding halfvec_cosine_ops) "
            "with (m = {}, ef_construction = {}) where organization_id = {}"
        ).format(
            sql.Identifier(name), table_of(space_id), _BUILD["m"], _BUILD["ef_construction"],
            sql.Literal(str(organization_id)),
        )  # fmt: skip
        memory = min(self._settings.index_memory_mb, max(_LEAST_MEMORY_MB, size // 2**20 + 1))
        settings = {
            "maintenance_work_mem": f"{memory}MB",
            "max_parallel_maintenance_workers": str(self._settings.index_workers),
        }
        if await self._postgres.alone(name, statement, settings):
            log.info("index built", index=name)

    async def _drop(self, name: str) -> None:
        statement = sql.SQL("drop index concurrently if exists {}").format(sql.Identifier(name))
        if await self._postgres.alone(name, statement):
            log.info("index dropped", index=name)
