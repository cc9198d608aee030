"""Reads what an organization has: knowledge bases, sources, chunks, events, usage. Foreign ids are unknown ids."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID, uuid4

from psycopg.rows import dict_row

from schemas.codes import Code
from schemas.identifiers import default_knowledge_base_id
from services.chassis.errors import RequestRefused
from services.chassis.postgres import Postgres
from services.chassis.queries import load_queries
from services.query.access import Principal, Reader, own_reader, readers

_SQL = load_queries("services.query", "library.sql")

Row = dict[str, Any]


class Library:
    """Everything but search, as a principal may see it. Methods raise RequestRefused(NOT_FOUND) and DependencyDown."""

    def __init__(self, postgres: Postgres, public_organization: UUID | None) -> None:
        self._postgres = postgres
        self._public_organization = public_organization

    async def ensure_organization(self, organization_id: UUID) -> None:
        """Give the organization its row and its default knowledge base, if it is new."""
        parameters = {"base": default_knowledge_base_id(organization_id)}
        await self._rows(organization_id, "ensure_organization", parameters)

    async def organization(self, principal: Principal, organization_id: UUID) -> Row:
        """The principal's own organization."""
        if organization_id != principal.organization_id:
            raise not_found("organization", organization_id)
        rows = await self._rows(organization_id, "organization", {"organization": organization_id})
        return one(rows, "organization", organization_id)

    async def knowledge_bases(self, principal: Principal) -> list[Row]:
        """All that the principal can read, its organization's first."""
        found = []
        for reader in readers(principal, self._public_organization):
            found += await self._rows(reader.organization_id, "knowledge_bases", {**reader.arguments, "base": None})
        return found

    async def make_knowledge_base(self, principal: Principal, base: UUID | None, fields: Row) -> Row:
        """A new knowledge base of the principal's organization. `base` is its id where the caller repeats itself."""
        if fields["scope"] == "public" and principal.organization_id != self._public_organization:
            raise RequestRefused(Code.FORBIDDEN, "only operators make public knowledge bases", status=403)
        if fields["scope"] == "user" and fields["owner"] is None:
            raise RequestRefused(Code.REQUEST_INVALID, "a knowledge base of scope user needs owner_profile_id")
        await self.ensure_organization(principal.organization_id)
        parameters = {"organization": principal.organization_id, "base": base or uuid4(), **fields}
        [row] = await self._rows(principal.organization_id, "make_knowledge_base", parameters)
        return row

    async def own_knowledge_base(self, principal: Principal, base: UUID) -> Row:
        """A knowledge base that the principal may add to."""
        if base == default_knowledge_base_id(principal.organization_id):
            await self.ensure_organization(principal.organization_id)
        parameters = {**own_reader(principal).arguments, "base": base}
        return one(await self._rows(principal.organization_id, "knowledge_bases", parameters), "knowledge base", base)

    async def sources(
        self,
        principal: Principal,
        base: UUID,
        *,
        status: str | None,
        parent: UUID | None = None,
        after: UUID | None,
        limit: int,
    ) -> list[Row]:
        """Sources in the order of ids, from the one that follows `after`; of one crawl where `parent` is its start."""
        for reader in readers(principal, self._public_organization):
            narrowed = {"base": base, "status": status, "parent": parent, "after": after, "limit": limit}
            parameters = {**reader.arguments, **narrowed}
            if await self._rows(reader.organization_id, "knowledge_bases", parameters):
                return await self._rows(reader.organization_id, "sources", parameters)
        raise not_found("knowledge base", base)

    async def source(self, principal: Principal, source: UUID) -> Row:
        """A source in any state, also of a public knowledge base."""
        return (await self._find(principal, source))[1]

    async def own_source(self, principal: Principal, source: UUID) -> Row:
        """A source that the principal may change."""
        parameters = {**own_reader(principal).arguments, "source": source}
        return one(await self._rows(principal.organization_id, "source", parameters), "source", source)

    async def chunks(self, principal: Principal, source: UUID, *, after: int, limit: int) -> list[Row]:
        """Live chunks in their order, from the one that follows the ordinal `after`."""
        reader, _ = await self._find(principal, source)
        parameters = {"organization": reader.organization_id, "source": source, "after": after, "limit": limit}
        return await self._rows(reader.organization_id, "chunks", parameters)

    async def events(
        self, principal: Principal, source: UUID, *, after: tuple[datetime, UUID] | None, limit: int
    ) -> list[Row]:
        """What became of a source of the principal's organization, oldest first."""
        await self.own_source(principal, source)
        after_time, after_id = after or (None, None)
        parameters = {
            "organization": principal.organization_id,
            "source": source,
            "after_time": after_time,
            "after": after_id,
            "limit": limit,
        }
        return await self._rows(principal.organization_id, "events", parameters)

    async def usage(self, principal: Principal, since: date | None, until: date | None) -> list[Row]:
        """By day and space, both days included; the last 30 days where none is named."""
        until = until or datetime.now(UTC).date()
        since = since or date.fromordinal(max(1, until.toordinal() - 29))
        parameters = {"organization": principal.organization_id, "since": since, "until": until}
        return await self._rows(principal.organization_id, "usage", parameters)

    async def _find(self, principal: Principal, source: UUID) -> tuple[Reader, Row]:
        for reader in readers(principal, self._public_organization):
            parameters = {**reader.arguments, "source": source}
            if rows := await self._rows(reader.organization_id, "source", parameters):
                return reader, rows[0]
        raise not_found("source", source)

    async def _rows(self, organization_id: UUID, query: str, parameters: Row) -> list[Row]:
        async with self._postgres.transaction(organization_id) as connection:
            cursor = await connection.cursor(row_factory=dict_row).execute(_SQL[query], parameters)
            return await cursor.fetchall()


def one(rows: list[Row], noun: str, id: UUID) -> Row:
    """The only row. Raises RequestRefused(NOT_FOUND) where there is none."""
    if not rows:
        raise not_found(noun, id)
    return rows[0]


def not_found(noun: str, id: UUID) -> RequestRefused:
    """The same words for what is foreign and for what was never there."""
    return RequestRefused(Code.NOT_FOUND, f"no {noun} {id}", status=404)
