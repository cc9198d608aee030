"""Keeps up what searches are planned by, beside the indexing and without getting in its way."""

from __future__ import annotations

from services.chassis.postgres import Postgres
from services.chassis.queries import load_queries
from services.indexer.settings import UpkeepSettings
from services.indexer.vector_indexes import VectorIndexes

_SQL = load_queries("services.indexer", "upkeep.sql")


class Upkeep:
    """Refreshes what is kept of the organizations that are large enough for it."""

    def __init__(self, postgres: Postgres, settings: UpkeepSettings) -> None:
        self._postgres = postgres
        self._settings = settings
        self._indexes = VectorIndexes(postgres, settings)

    async def turn(self) -> int:
        """Refresh what is stale. Gives the number of organizations. Raises DependencyDown."""
        least = {"least": self._settings.least_chunks}
        stale = await self._postgres.fetch(_SQL["stale"], {**least, "patience": self._settings.patience})
        for organization, anew in stale:
            # One transaction each: searches go on with what was kept before meanwhile.
            await self._postgres.fetch(_SQL["refresh"], {"organization": organization, "anew": anew})
        for (organization,) in await self._postgres.fetch(_SQL["dwindled"], least):
            await self._postgres.fetch(_SQL["forget"], {"organization": organization})
        await self._indexes.turn()
        async with self._postgres.transaction() as connection:
            await connection.execute(_SQL["forget_pauses"])
        return len(stale)
