"""What the indexer does about each event."""

from __future__ import annotations

from schemas.events import SourceDeleted, SourceEmbedded, SourceRemovalDue, SourceRetitled
from schemas.identifiers import event_id
from schemas.recipes import recipe
from services.chassis import metrics
from services.chassis.delivery import Received
from services.chassis.failpoints import failpoint
from services.chassis.postgres import Postgres
from services.chassis.queries import load_queries
from services.indexer.cutover import CutOver
from services.indexer.revisions import Revision
from services.indexer.spaces import Spaces
from services.indexer.wording import Prefix, Worded, write_words

_SQL = load_queries("services.indexer", "revision.sql")


class Indexing:
    """Collects batches, makes whole revisions live, removes sources, follows titles."""

    def __init__(self, postgres: Postgres, spaces: Spaces, cut_over: CutOver) -> None:
        self._postgres = postgres
        self._spaces = spaces
        self._cut_over = cut_over

    async def index(self, received: Received[SourceEmbedded]) -> None:
        """Keep the batch; with the last one of its revision, make the revision live."""
        event = received.event
        if event.batches == 1:
            await self._cut_over.make_live(Revision((event,)))
            return
        if await self._stage(received) < event.batches:
            failpoint("between-batches")
            return
        payloads = await self._postgres.fetch(_SQL["staged_batches"], self._staged_key(event))
        batches = tuple(SourceEmbedded.model_validate_json(payload) for (payload,) in payloads)
        if len(batches) == event.batches:
            await self._cut_over.make_live(Revision(batches))

    async def _stage(self, received: Received[SourceEmbedded]) -> int:
        event = received.event
        ((count,),) = await self._postgres.fetch(
            _SQL["stage_batch"],
            {**self._staged_key(event), "batch": event.batch, "payload": received.raw},
        )
        return int(count)

    async def remove(self, event: SourceRemovalDue) -> None:
        """Take out all that was made of the source, unless a newer wish brings it back."""
        async with self._postgres.transaction() as connection:
            cursor = await connection.execute(_SQL["lock_removal"], self._key(event))
            if await cursor.fetchone() is None:
                return
            await self._spaces.drop_source(connection, event.organization_id, event.source_id)
            told = event_id(event.organization_id, event.source_id, event.revision, SourceDeleted.type)
            await connection.execute(_SQL["remove"], {**self._key(event), "event_id": told, "type": SourceDeleted.type})
        metrics.SOURCES.labels("deleted", "").inc()

    async def retitle(self, event: SourceRetitled) -> None:
        """Write the words of the source's chunks anew, with the title that it has now."""
        key = self._key(event)
        async with self._postgres.transaction() as connection:
            row = await (await connection.execute(_SQL["lock_live"], key)).fetchone()
            if row is None:
                return
            chunks = await (await connection.execute(_SQL["chunks_of"], key)).fetchall()
            worded = Worded(event.organization_id, event.source_id, Prefix(*row), chunks)
            await write_words(connection, [worded])
            await connection.execute(_SQL["retitled"], key)

    def _staged_key(self, event: SourceEmbedded) -> dict[str, object]:
        made = recipe(event.recipe, event.space)
        return {**self._key(event), "body_hash": event.body_hash, "recipe": made}

    @staticmethod
    def _key(event: SourceEmbedded | SourceRemovalDue | SourceRetitled) -> dict[str, object]:
        return {"organization": event.organization_id, "source": event.source_id, "revision": event.revision}
