"""The words of chunks, for search by keyword: title and description stand in front of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from uuid import UUID

from schemas.words import Words, words_of
from services.chassis.postgres import Connection
from services.chassis.queries import load_queries

_SQL = load_queries("services.indexer", "revision.sql")


class Prefix(NamedTuple):
    """What the words of all chunks of a source begin with, and the language (ISO 639-1) that they are stemmed in."""

    title: str | None
    description: str | None
    language: str | None

    def words(self) -> Words:
        """The words of title and description."""
        return words_of("\n".join(text for text in (self.title, self.description) if text))


class Worded(NamedTuple):
    """Some chunks of a source, whose words are to be written: ids and texts."""

    organization_id: UUID
    source_id: UUID
    prefix: Prefix
    chunks: Sequence[tuple[UUID, str]]


async def write_words(connection: Connection, sources: Iterable[Worded]) -> None:
    """Write the words of chunks. Chunks that have some get new ones."""
    rows = [row for source in sources for row in _rows(source)]
    if rows:
        names = ("organizations", "sources", "chunks", "languages", "proses", "verbatims")
        columns = map(list, zip(*rows, strict=True))
        await connection.execute(_SQL["write_words"], dict(zip(names, columns, strict=True)))


def _rows(source: Worded) -> Iterable[tuple[UUID, UUID, UUID, str | None, str, str]]:
    prefix = source.prefix.words()
    for chunk_id, text in source.chunks:
        own = words_of(text)
        words = Words(f"{prefix.prose}\n{own.prose}", prefix.verbatim + own.verbatim)
        yield (
            source.organization_id, source.source_id, chunk_id, source.prefix.language, words.prose, words.vector(),
        )  # fmt: skip
