"""Makes revisions live: in one transaction, under the locks of the sources' rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby
from uuid import UUID

from psycopg.types.json import Jsonb

from schemas.events import Chunk, SourceIndexed
from schemas.identifiers import event_id
from services.chassis import metrics
from services.chassis.coalescing import Coalescer
from services.chassis.postgres import Connection, Postgres
from services.chassis.queries import load_queries
from services.indexer.revisions import Change, Revision, change, columns
from services.indexer.spaces import Spaces
from services.indexer.wording import Prefix, write_words

_SQL = load_queries("services.indexer", "revision.sql")

_CHUNKS_TOGETHER = 400
"""Revisions that end at the same time share a transaction up to this many chunks: about 0.1 s of writing."""


class CutOver:
    """Writes whole revisions. Searches see the old one or the new one, never a mixture, never neither."""

    def __init__(self, postgres: Postgres, spaces: Spaces) -> None:
        self._postgres = postgres
        self._spaces = spaces
        self._together = Coalescer(
            self._make_live, most=_CHUNKS_TOGETHER, weight=lambda revision: revision.chunk_count, concurrency=2
        )

    async def make_live(self, revision: Revision) -> bool:
        """Make it live. False: a newer wish has come, nothing was written. Raises EventRefused, DependencyDown."""
        if revision.first.space:
            await self._spaces.id_of(revision.first.space)  # refused here, it is refused alone
        return await self._together(revision)

    async def _make_live(self, revisions: Sequence[Revision]) -> list[bool]:
        async with self._postgres.transaction() as connection:
            changes = await self._changes(connection, revisions)
            if changes:
                await self._take_out(connection, changes)
                await self._put_in(connection, changes)
                await self._announce(connection, changes)
        _count(changes)
        done = {id(change.revision) for change in changes}
        return [id(revision) in done for revision in revisions]

    async def _changes(self, connection: Connection, revisions: Sequence[Revision]) -> list[Change]:
        # Two deliveries of one revision in the same set: the first is written, the second finds it done.
        unique = {(r.first.organization_id, r.first.source_id, r.first.revision): r for r in reversed(revisions)}
        asked = list(unique.values())
        cursor = await connection.execute(
            _SQL["lock"],
            {
                "organizations": [r.first.organization_id for r in asked],
                "sources": [r.first.source_id for r in asked],
                "revisions": [r.first.revision for r in asked],
                "document_titles": [r.first.document_title for r in asked],
                "languages": [r.first.language for r in asked],
            },
        )
        locked = {row[:3]: row[3:] for row in await cursor.fetchall()}
        present = await self._present(connection, [key[:2] for key, (has_chunks, *_) in locked.items() if has_chunks])
        found = []
        for key, revision in unique.items():
            if key in locked:
                _, words_are_old, *prefix = locked[key]
                found.append(change(revision, present[key[:2]], Prefix(*prefix), words_are_old=words_are_old))
        return found

    async def _present(
        self, connection: Connection, keys: list[tuple[UUID, UUID]]
    ) -> dict[tuple[UUID, UUID], set[UUID]]:
        # By organization and source: publishers choose ids of sources, so two organizations can have the same.
        present: dict[tuple[UUID, UUID], set[UUID]] = defaultdict(set)
        if keys:
            organizations, sources = zip(*keys, strict=True)
            cursor = await connection.execute(
                _SQL["live_chunks"], {"organizations": list(organizations), "sources": list(sources)}
            )
            for organization_id, source_id, chunk_id in await cursor.fetchall():
                present[organization_id, source_id].add(chunk_id)
        return present

    async def _take_out(self, connection: Connection, changes: Sequence[Change]) -> None:
        gone = [
            (change.revision.first.organization_id, change.revision.first.source_id, chunk_id)
            for change in changes
            for chunk_id in change.dropped
        ]
        if gone:
            organizations, sources, chunks = ([row[at] for row in gone] for at in range(3))
            await connection.execute(
                _SQL["drop_chunks"], {"organizations": organizations, "sources": sources, "chunks": chunks}
            )
            await self._spaces.drop(connection, gone)

    async def _put_in(self, connection: Connection, changes: Sequence[Change]) -> None:
        added = [(change.revision, chunk) for change in changes for chunk in change.added]
        kept = [(change.revision, chunk) for change in changes for chunk in change.kept]
        if added:
            await _copy_chunks(connection, added)
        if kept:
            await _move_chunks(connection, kept)
        await write_words(connection, [change.new_words for change in changes])
        await self._write_vectors(connection, changes)

    async def _write_vectors(self, connection: Connection, changes: Sequence[Change]) -> None:
        embedded = sorted((c for c in changes if c.revision.first.space), key=lambda c: c.revision.first.space or "")
        for space, group in groupby(embedded, key=lambda c: c.revision.first.space or ""):
            mine = list(group)
            space_id = await self._spaces.id_of(space)
            with_kept = [(c.revision.first.organization_id, c.revision.first.source_id) for c in mine if c.kept]
            present = await self._spaces.present(connection, space_id, with_kept) if with_kept else set()
            await self._spaces.write(
                connection,
                space_id,
                (
                    (c.revision.first.organization_id, c.revision.first.source_id, chunk_id, vector)
                    for c in mine
                    for chunk_id, vector in c.revision.vectors(
                        {x.id for x in c.revision.chunks() if (c.revision.first.organization_id, x.id) not in present}
                    )
                ),
            )

    async def _announce(self, connection: Connection, changes: Sequence[Change]) -> None:
        revisions = [change.revision for change in changes]
        firsts = [revision.first for revision in revisions]
        await connection.execute(
            _SQL["make_live"],
            {
                **columns(changes),
                "urls": [first.url for first in firsts],
                "body_hashes": [first.body_hash for first in firsts],
                "recipes": [revision.recipe for revision in revisions],
                "etags": [first.etag for first in firsts],
                "modified": [first.last_modified for first in firsts],
                "chunk_counts": [revision.chunk_count for revision in revisions],
                "token_counts": [revision.token_count for revision in revisions],
                "event_ids": [
                    event_id(first.organization_id, first.source_id, first.revision, SourceIndexed.type)
                    for first in firsts
                ],
                "type": SourceIndexed.type,
            },
        )


async def _copy_chunks(connection: Connection, added: Sequence[tuple[Revision, Chunk]]) -> None:
    texts = "copy chunk (organization_id, source_id, id, content_hash, token_count, text) from stdin (format binary)"
    async with connection.cursor().copy(texts) as copy:
        copy.set_types(["uuid", "uuid", "uuid", "bytea", "int4", "text"])
        for revision, chunk in added:
            key = (revision.first.organization_id, revision.first.source_id, chunk.id)
            await copy.write_row((*key, bytes.fromhex(chunk.content_hash), chunk.token_count, chunk.text))
    places = (
        "copy chunk_place (organization_id, source_id, chunk_id, ordinal, start_at, end_at, heading_path, locator) "
        "from stdin (format binary)"
    )
    async with connection.cursor().copy(places) as copy:
        copy.set_types(["uuid", "uuid", "uuid", "int4", "int4", "int4", "text[]", "jsonb"])
        for revision, chunk in added:
            key = (revision.first.organization_id, revision.first.source_id, chunk.id)
            where = (list(chunk.heading_path), Jsonb(chunk.locator.model_dump(exclude_none=True)))
            await copy.write_row((*key, chunk.order, chunk.start, chunk.end, *where))


async def _move_chunks(connection: Connection, kept: Sequence[tuple[Revision, Chunk]]) -> None:
    await connection.execute(
        _SQL["move_chunks"],
        {
            "organizations": [revision.first.organization_id for revision, _ in kept],
            "sources": [revision.first.source_id for revision, _ in kept],
            "chunks": [chunk.id for _, chunk in kept],
            "ordinals": [chunk.order for _, chunk in kept],
            "starts": [chunk.start for _, chunk in kept],
            "ends": [chunk.end for _, chunk in kept],
            "heading_paths": [Jsonb(list(chunk.heading_path)) for _, chunk in kept],
            "locators": [Jsonb(chunk.locator.model_dump(exclude_none=True)) for _, chunk in kept],
        },
    )


def _count(changes: Sequence[Change]) -> None:
    for done in changes:
        metrics.SOURCES.labels("ready", "").inc()
        metrics.CHUNKS.labels("added").inc(len(done.added))
        metrics.CHUNKS.labels("kept").inc(len(done.kept))
        metrics.CHUNKS.labels("dropped").inc(len(done.dropped))
