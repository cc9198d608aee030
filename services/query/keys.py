"""API keys: `kb_` and 32 random bytes, of which only the SHA-256 is kept."""

from __future__ import annotations

import re
import secrets
import time
from collections import OrderedDict
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid4

from psycopg.rows import dict_row

from schemas.codes import Code
from services.chassis.errors import RequestRefused
from services.chassis.postgres import Postgres
from services.chassis.queries import load_queries
from services.query.access import Principal, Role

_SQL = load_queries("services.query", "keys.sql")
_KEY = re.compile(r"kb_[A-Za-z0-9_-]{43}")
_SHOWN = 9
_MOST_KNOWN = 4096


class Keys:
    """The keys of organizations. A key that was good stays known for some seconds."""

    def __init__(self, postgres: Postgres, known_seconds: float) -> None:
        self._postgres = postgres
        self._known_seconds = known_seconds
        self._known: OrderedDict[bytes, tuple[float, Principal]] = OrderedDict()

    async def principal_of(self, key: str) -> Principal | None:
        """Who the key belongs to; None for one that is not valid. Raises DependencyDown."""
        if not _KEY.fullmatch(key):
            return None
        digest = sha256(key.encode()).digest()
        until, principal = self._known.get(digest, (0.0, None))
        if principal is not None and time.monotonic() < until:
            return principal
        rows = await self._postgres.fetch(_SQL["find"], {"hash": digest})
        if not rows:
            self._known.pop(digest, None)
            return None
        organization_id, key_id, role, profile_id = rows[0]
        async with self._postgres.transaction(organization_id) as connection:
            await connection.execute(_SQL["touch"], {"organization": organization_id, "key": key_id})
        principal = Principal(organization_id, profile_id, role, api_key_id=key_id)
        self._known[digest] = (time.monotonic() + self._known_seconds, principal)
        if len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)
        return principal

    async def make(self, organization_id: UUID, name: str, role: Role, profile_id: UUID | None) -> dict[str, Any]:
        """A new key's row, with the key itself under `key`: it is never seen again."""
        key = f"kb_{secrets.token_urlsafe(32)}"
        parameters = {
            "organization": organization_id,
            "key": uuid4(),
            "name": name,
            "prefix": key[:_SHOWN],
            "hash": sha256(key.encode()).digest(),
            "role": role,
            "profile": profile_id,
        }
        async with self._postgres.transaction(organization_id) as connection:
            row = await (await connection.cursor(row_factory=dict_row).execute(_SQL["make"], parameters)).fetchone()
        return {**(row or {}), "key": key}

    async def list(self, organization_id: UUID, after: UUID | None, limit: int) -> list[dict[str, Any]]:
        """Rows without the keys, revoked ones too, in the order of ids."""
        parameters = {"organization": organization_id, "after": after, "limit": limit}
        async with self._postgres.transaction(organization_id) as connection:
            return await (await connection.cursor(row_factory=dict_row).execute(_SQL["list"], parameters)).fetchall()

    async def revoke(self, organization_id: UUID, key_id: UUID) -> None:
        """From now on the key is not valid; other processes may know it for some seconds. Raises NOT_FOUND."""
        async with self._postgres.transaction(organization_id) as connection:
            cursor = await connection.execute(_SQL["revoke"], {"organization": organization_id, "key": key_id})
            row = await cursor.fetchone()
        if row is None:
            raise RequestRefused(Code.NOT_FOUND, f"no key {key_id}", status=404)
        self._known.pop(row[0], None)
