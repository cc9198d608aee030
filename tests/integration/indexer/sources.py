"""A source in the hands of the indexer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from schemas.events import SourceEmbedded
from tests.support.batches import embedded
from tests.support.migrated import Tables
from tests.support.queue import fill
from tests.support.rooms import Rooms
from tests.support.transport import received


@dataclass
class InHand:
    """One source, and what its tables hold."""

    tables: Tables
    rooms: Rooms
    organization: UUID
    id: UUID

    @classmethod
    async def make(cls, tables: Tables, rooms: Rooms, organization: UUID | None = None) -> InHand:
        """In flight, at revision 1."""
        await rooms.store.register()
        organization = organization or uuid4()
        name = str(uuid4())
        fill(tables, organization, 1, name=name, status="ingesting", stage="indexing", age=-600)
        (id_,) = tables.row("select id from knowledge_source where external_id = %s", f"{name} 1")
        return cls(tables, rooms, organization, id_)

    def wish(self, **columns: Any) -> int:
        """As if a newer wish had come and been given out. Gives its revision."""
        changes = {"status": "ingesting", "stage": "fetching", **columns}
        sets = ", ".join(f"{name} = %s" for name in changes)
        (revision,) = self.tables.row(
            f"update knowledge_source set revision = revision + 1, due_at = now() + interval '1 hour', {sets} "
            "where id = %s returning revision",
            *changes.values(),
            self.id,
        )
        return int(revision)

    def batches(self, texts: Sequence[str], **fields: Any) -> list[SourceEmbedded]:
        return embedded(self.organization, self.id, texts, **fields)

    async def index(self, *batches: SourceEmbedded) -> None:
        for batch in batches:
            await self.rooms.indexing.index(received(batch))

    @property
    def texts(self) -> list[str]:
        """Live chunks, in order."""
        return [row[0] for row in self.rows("c.text")]

    def rows(self, columns: str) -> list[tuple[Any, ...]]:
        """Of all four tables of a chunk, in the order of the document."""
        return self.tables.rows(
            f"select {columns} from chunk c join chunk_place p on (p.source_id, p.chunk_id) = (c.source_id, c.id) "
            "join chunk_words w on (w.source_id, w.chunk_id) = (c.source_id, c.id) "
            "join chunk_vector_1 v on (v.source_id, v.chunk_id) = (c.source_id, c.id) "
            "where c.source_id = %s order by p.ordinal",
            self.id,
        )

    def state(self, columns: str = "status, revision, live_revision") -> tuple[Any, ...]:
        return self.tables.row(f"select {columns} from knowledge_source where id = %s", self.id)
