"""The log as administrators and `kb replay` read it."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import dict_row

from services.chassis.postgres import Postgres
from services.chassis.queries import load_queries

_SQL = load_queries("services.query.query_log", "query_log.sql")


class LoggedQueries:
    """The searches of organizations. Raises DependencyDown."""

    def __init__(self, postgres: Postgres) -> None:
        self._postgres = postgres

    async def page(
        self, organization_id: UUID, after: tuple[datetime, UUID] | None, limit: int
    ) -> list[dict[str, Any]]:
        """Newest first, from the one that follows the time and id `after`."""
        after_time, after_id = after or (None, None)
        parameters = {"organization": organization_id, "after_time": after_time, "after": after_id, "limit": limit}
        async with self._postgres.transaction(organization_id) as connection:
            return await (await connection.cursor(row_factory=dict_row).execute(_SQL["page"], parameters)).fetchall()
