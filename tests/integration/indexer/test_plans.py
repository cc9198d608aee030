"""What the indexer and the embedder run for each revision reads the rows of its sources, not the tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest

from services.chassis.queries import load_queries
from tests.support.migrated import Tables
from tests.support.plans import sequential_scans
from tests.support.queue import fill

INDEXER = load_queries("services.indexer", "revision.sql")
EMBEDDER = load_queries("services.embedder", "store.sql")
ORGANIZATIONS, SOURCES, CHUNKS = 4, 1000, 20
LARGE = {"chunk", "chunk_place", "chunk_words", "chunk_vector_1", "knowledge_source", "revision_batch"}


@pytest.fixture(scope="module")
def filled(migrated: str) -> Iterator[Tables]:
    """80,000 chunks of 4,000 sources."""
    tables = Tables(migrated)
    tables.forget_all()
    tables.rows("select register_space('test/plans@4', 4)")
    for number in range(1, ORGANIZATIONS + 1):
        fill(tables, UUID(int=number), SOURCES, status="ready", stage=None, live_revision=1, body_hash="x", age=-86_400)
    tables.rows(
        "insert into chunk "
        "select organization_id, id, gen_random_uuid(), sha256((id::text || n)::bytea), 5, 'text ' || n "
        f"from knowledge_source, generate_series(1, {CHUNKS}) n"
    )
    tables.rows(
        "insert into chunk_place select organization_id, source_id, id, 0, 0, 1, '{}', '{}' from chunk;"
        "insert into chunk_words select organization_id, source_id, id, to_tsvector(text) from chunk;"
        "insert into chunk_vector_1 select organization_id, source_id, id, '[1,0,0,0]' from chunk;"
        "insert into revision_batch select organization_id, id, 2, 'h', 'r', n, 'x' "
        "from knowledge_source, generate_series(1, 3) n"
    )
    tables.rows("analyze")
    yield tables
    tables.close()


def parameters_of(tables: Tables, sources: int, *, each_once: bool = False) -> dict[str, Any]:
    """Of all statements, for so many sources: a row for each chunk, or one for each source."""
    rows = tables.rows(
        "select c.organization_id, c.source_id, c.id, c.content_hash from chunk c where source_id in "
        f"(select id from knowledge_source order by id limit {sources})"
    )
    organizations, ids, chunks, _ = (list(column) for column in zip(*rows, strict=True))
    if each_once:
        organizations, ids = map(list, zip(*dict.fromkeys(zip(organizations, ids, strict=True)), strict=True))
    many = len(ids)
    first = {"organization": organizations[0], "source": ids[0], "revision": 1}
    numbers = dict.fromkeys(("ordinals", "starts", "ends", "chunk_counts", "token_counts", "revisions"), [1] * many)
    texts = dict.fromkeys(
        ("document_titles", "urls", "body_hashes", "recipes", "etags", "modified", "languages", "proses"), ["x"] * many
    )
    return (
        first
        | numbers
        | texts
        | {
            "organizations": organizations,
            "sources": ids,
            "chunks": chunks,
            "heading_paths": ["[]"] * many,
            "verbatims": ["'x':1"] * many,
            "locators": ["{}"] * many,
            "event_ids": [uuid4()] * many,
            "event_id": uuid4(),
            "type": "t",
            "body_hash": "h",
            "recipe": "r",
            "batch": 1,
            "payload": b"x",
        }
    )


STATEMENTS = (
    "stage_batch",
    "staged_batches",
    "lock",
    "live_chunks",
    "drop_chunks",
    "move_chunks",
    "make_live",
    "write_words",
    "lock_removal",
    "remove",
    "lock_live",
    "chunks_of",
    "retitled",
)


OF_SOURCES = ("lock", "live_chunks", "make_live")


@pytest.mark.parametrize("sources", [1, 20])
@pytest.mark.parametrize("name", STATEMENTS)
def test_statement_reads_only_rows_of_its_sources(filled: Tables, name: str, sources: int) -> None:
    parameters = parameters_of(filled, sources, each_once=name in OF_SOURCES)
    assert not sequential_scans(filled.dsn, INDEXER[name], parameters) & LARGE


def test_staged_batch_is_found_by_its_key(filled: Tables) -> None:
    assert not sequential_scans(filled.dsn, EMBEDDER["staged"], parameters_of(filled, 1)) & LARGE
