"""What wishes about the start of a crawl mean for its pages, in the transaction in which the wish is taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schemas.events import SourceArchived
from schemas.events.source import Crawl
from services.chassis.postgres import Connection
from services.chassis.queries import load_queries
from services.fetcher.naming import SourceName

_SQL = load_queries("services.fetcher.crawling", "wishes.sql")
_SUBMITTED = ("description", "metadata", "is_public", "language")
_CHANGED = ("is_public", "archived")


async def submitted(connection: Connection, name: SourceName, crawl: Crawl | None) -> None:
    """The source is a start from now on, or none any more; its pages follow its fields."""
    key: dict[str, Any] = {"organization": name.organization_id, "source": name.source_id}
    before = await (await connection.execute(_SQL["lock"], key)).fetchone()
    if crawl is None:
        if before:
            await connection.execute(_SQL["release_pages"], key)
            await connection.execute(_SQL["end_crawl"], key)
        return
    await connection.execute(_SQL["wish"], {**key, **crawl.model_dump()})
    await connection.execute(_SQL["start_page"], {**key, "url": name.url})
    if before and before != (crawl.prefix, name.url):
        await connection.execute(_SQL["forget_links"], key)
    await _pass_on(connection, key, _SUBMITTED)


async def changed(connection: Connection, name: SourceName, given: Sequence[str]) -> None:
    """Pages are seen, and are out of searches, as the start is."""
    key: dict[str, Any] = {"organization": name.organization_id, "source": name.source_id}
    fields = [field for field in given if field in _CHANGED]
    if not fields or not await (await connection.execute(_SQL["lock"], key)).fetchone():
        return
    await _pass_on(connection, key, fields)
    if "archived" in fields:
        await connection.execute(_SQL["unsettle"], key)


async def removed(connection: Connection, name: SourceName) -> None:
    """Pages go with the start."""
    key: dict[str, Any] = {"organization": name.organization_id, "source": name.source_id}
    if not await (await connection.execute(_SQL["lock"], key)).fetchone():
        return
    if await (await connection.execute(_SQL["is_removed"], key)).fetchone() == (True,):
        await connection.execute(_SQL["remove_pages"], key)
        await connection.execute(_SQL["end_crawl"], key)


async def _pass_on(connection: Connection, key: dict[str, Any], given: Sequence[str]) -> None:
    await connection.execute(_SQL["pass_on"], {**key, "given": list(given), "told_type": SourceArchived.type})
