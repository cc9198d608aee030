"""Keeps room for the records of searches, and lets go of what is old."""

from __future__ import annotations

from services.chassis.postgres import Postgres
from services.chassis.queries import load_queries
from services.chassis.settings import RetentionSettings

_SQL = load_queries("services.indexer", "retention.sql")


class Retention:
    """Makes the months of the query log ahead, drops old ones, forgets the usage of sources after some weeks."""

    def __init__(self, postgres: Postgres, settings: RetentionSettings) -> None:
        self._postgres = postgres
        self._days = settings.query_log_retention_days

    async def turn(self) -> None:
        """Do what is to be done now. Raises DependencyDown, also where a table is in use for too long."""
        for query in ("ensure_partitions", "drop_partitions", "forget_usage"):
            async with self._postgres.transaction() as connection:
                await connection.execute(_SQL[query], {"days": self._days})
