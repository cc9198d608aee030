"""Searches while a source is replaced again and again: one revision or the other, never both, never nothing."""

from __future__ import annotations

from typing import Any

from tests.integration.indexer.sources import InHand
from tests.integration.indexer.watching import Watcher
from tests.support.migrated import Tables

CHUNKS, REPLACEMENTS = 200, 500


def texts_of(revision: int) -> list[str]:
    """A tenth of the chunks tells its revision."""
    return [
        f"Part {part} of the whale book" + (f" in revision number {revision}." if part % 10 == 0 else " stays.")
        for part in range(CHUNKS)
    ]


async def test_an_answer_is_of_one_revision(source: InHand, tables: Tables, record_property: Any) -> None:
    await source.index(*source.batches(texts_of(1)))
    with Watcher(tables.dsn, source.organization) as watcher:
        for number in range(2, REPLACEMENTS + 2):
            revision = source.wish()
            await source.index(*source.batches(texts_of(number), revision=revision))
        quiet, busy = watcher.quiet, watcher.stop()
    record_property("p95_ms_quiet", round(quiet.p95_ms, 1))
    record_property("p95_ms_busy", round(busy.p95_ms, 1))
    print(f"p95 {quiet.p95_ms:.1f} ms quiet, {busy.p95_ms:.1f} ms busy, {len(busy.seen)} revisions seen")
    assert quiet.wrong == busy.wrong == []
    assert len(busy.seen) > 20
    # Both share two cores with the writing here: more than that would be waiting for locks.
    assert busy.p95_ms < 5 * quiet.p95_ms
    assert tables.row("select count(*) from chunk where source_id = %s", source.id) == (CHUNKS,)
