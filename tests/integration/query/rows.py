"""Writes rows as the indexer would, and the encoder whose vectors they have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid4

import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb

from schemas.identifiers import chunk_id, content_hash
from schemas.words import words_of
from services.encoder.encoder import Limits
from services.encoder.errors import EncoderUnavailable
from services.encoder.spaces import EmbeddingSpace
from tests.support.provider import bag_vectors

SPACE = EmbeddingSpace("test", "words", 64)


class WordEncoder:
    """Texts with the same words are near each other. `down` makes it unavailable."""

    space = SPACE
    limits = Limits()

    def __init__(self) -> None:
        self.down = False
        self.asked: list[str] = []

    async def embed_passages(self, texts: Sequence[str]) -> list[bytes]:
        return [await self.embed_query(text) for text in texts]

    async def embed_query(self, text: str) -> bytes:
        self.asked.append(text)
        if self.down:
            raise EncoderUnavailable("no connection")
        return bag_vectors([text], SPACE.dimensions)[0].tobytes()

    async def aclose(self) -> None:
        pass


def asked(query: str) -> tuple[list[str], list[str]]:
    """The words of a query as search_chunks takes them."""
    words = words_of(query)
    return words.prose.split(), words.verbatim


@dataclass
class Rows:
    """Statements as the superuser, whom row-level security does not hold."""

    dsn: str
    space_id: int = field(init=False)

    def __post_init__(self) -> None:
        self.space_id = self.execute("select register_space(%s, %s)", SPACE.name, SPACE.dimensions)[0][0]

    def execute(self, statement: Any, *parameters: Any) -> list[Any]:
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            cursor = connection.execute(statement, parameters)
            return cursor.fetchall() if cursor.description else []

    def organization(self) -> UUID:
        organization = uuid4()
        self.execute(
            "insert into organization (id, slug, name) values (%s, %s, 'Some')", organization, str(organization)
        )
        return organization

    def base(self, organization: UUID, scope: str = "account", owner: UUID | None = None) -> UUID:
        base = uuid4()
        self.execute(
            "insert into knowledge_base (organization_id, id, name, scope, owner_profile_id) "
            "values (%s, %s, 'B', %s, %s)",
            organization, base, scope, owner,
        )  # fmt: skip
        return base

    def source(self, organization: UUID, base: UUID, texts: Sequence[str], **columns: Any) -> UUID:
        """A source that is live with these chunks, unless `columns` say otherwise."""
        source = uuid4()
        given = {
            "organization_id": organization, "id": source, "knowledge_base_id": base, "kind": "text",
            "status": "ready", "live_revision": 1, "chunk_count": len(texts), "wish_time": "2024-01-01",
            **columns,
        }  # fmt: skip
        statement = sql.SQL("insert into knowledge_source ({}) values ({})").format(
            sql.SQL(", ").join(map(sql.Identifier, given)), sql.SQL(", ").join(sql.Placeholder() * len(given))
        )
        self.execute(statement, *given.values())
        for ordinal, text in enumerate(texts):
            self.chunk(organization, source, ordinal, text, language=columns.get("language"))
        return source

    def chunk(
        self,
        organization: UUID,
        source: UUID,
        ordinal: int,
        text: str,
        locator: dict[str, Any] | None = None,
        language: str | None = None,
    ) -> UUID:
        chunk = chunk_id(source, content_hash(text), ordinal)
        key = (organization, source, chunk)
        digest = sha256(text.encode()).digest()
        vector = "[" + ",".join(map(str, bag_vectors([text], SPACE.dimensions)[0].tolist())) + "]"
        with psycopg.connect(self.dsn) as connection:
            connection.execute("insert into chunk values (%s, %s, %s, %s, 10, %s)", (*key, digest, text))
            connection.execute(
                "insert into chunk_place values (%s, %s, %s, %s, 0, %s, %s, %s)",
                (*key, ordinal, len(text), ["Top", f"Part {ordinal}"], Jsonb(locator or {})),
            )
            words = words_of(text)
            connection.execute(
                "insert into chunk_words values (%s, %s, %s, words_of(%s, %s, %s))",
                (*key, language, words.prose, words.vector()),
            )
            table = sql.Identifier(f"chunk_vector_{self.space_id}")
            connection.execute(sql.SQL("insert into {} values (%s, %s, %s, %s::halfvec)").format(table), (*key, vector))
        return chunk
