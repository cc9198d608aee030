"""What agents fetch becomes part of the knowledge base."""

from __future__ import annotations

from datetime import timedelta

from psycopg.errors import ForeignKeyViolation

from schemas.codes import Code
from schemas.events import FetchSucceeded
from schemas.identifiers import default_knowledge_base_id, source_id
from schemas.urls import InvalidUrl, normalize
from services.chassis.delivery import Received
from services.chassis.errors import EventRefused
from services.chassis.postgres import Postgres
from services.chassis.queries import load_queries
from services.fetcher.settings import PromotionSettings

_SQL = load_queries("services.fetcher", "intake.sql")


class Promotion:
    """Takes pages in, within the organization's daily number."""

    def __init__(self, postgres: Postgres, settings: PromotionSettings) -> None:
        self._postgres = postgres
        self._settings = settings

    async def consider(self, received: Received[FetchSucceeded]) -> bool:
        """Take the page in, unless it is known, removed, or too much for today. True: a revision begins."""
        fetch = received.event
        if fetch.origin == "pipeline":
            return False  # what the pipeline fetched itself would come round again
        try:
            url = normalize(fetch.url)
        except InvalidUrl as error:
            raise EventRefused(Code.URL_INVALID, str(error)) from error
        organization = fetch.organization_id
        default = default_knowledge_base_id(organization)
        base = fetch.knowledge_base_id or default
        try:
            async with self._postgres.transaction() as connection:
                await connection.execute(_SQL["ensure_organization"], {"organization": organization, "base": default})
                cursor = await connection.execute(
                    _SQL["promote"],
                    {
                        "organization": organization,
                        "base": base,
                        "source": source_id(organization, base, "url", url),
                        "url": url,
                        "title": fetch.title.replace("\0", "") if fetch.title else None,
                        "event_source": received.envelope.source.replace("\0", ""),
                        "event_id": received.envelope.id.replace("\0", ""),
                        "time": received.time,
                        "most": self._settings.daily,
                        "again": timedelta(days=self._settings.again_days),
                    },
                )
                return await cursor.fetchone() is not None
        except ForeignKeyViolation:
            raise EventRefused(Code.NOT_FOUND, f"the organization has no knowledge base {base}") from None
