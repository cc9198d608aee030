from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.events import SourceChunked, SourceEmbedded
from schemas.identifiers import content_hash, default_knowledge_base_id
from services.chassis.errors import DependencyDown
from services.chassis.postgres import Postgres
from services.indexer.vectors import to_halfvec
from tests.support.batches import chunks_of
from tests.support.migrated import Tables
from tests.support.queue import fill
from tests.support.rooms import SPACE, Rooms
from tests.support.transport import received


@pytest.fixture
async def rooms(postgres: Postgres, tables: Tables) -> Rooms:
    made = Rooms(postgres)
    await made.store.register()
    return made


class Stored:
    """A source in flight, and its batches."""

    def __init__(self, tables: Tables, organization: UUID) -> None:
        self.organization = organization
        name = str(uuid4())
        fill(tables, organization, 1, name=name, status="ingesting", stage="embedding", age=-600)
        (self.id,) = tables.row("select id from knowledge_source where external_id = %s", f"{name} 1")

    def batches(self, texts: Sequence[str], size: int = 24, **fields: Any) -> list[SourceChunked]:
        chunks = chunks_of(self.id, texts)
        parts = [tuple(chunks[at : at + size]) for at in range(0, len(chunks), size)]
        given = {
            "organization_id": self.organization,
            "source_id": self.id,
            "revision": 1,
            "knowledge_base_id": default_knowledge_base_id(self.organization),
            "body_hash": content_hash("\n".join(texts)),
            "recipe": "1/default",
            "batches": len(parts),
        }
        return [SourceChunked(**given | {"batch": n, "chunks": part} | fields) for n, part in enumerate(parts)]


async def embed(rooms: Rooms, *batches: SourceChunked) -> list[SourceEmbedded]:
    for batch in batches:
        await rooms.embedding.embed(batch)
    found: Any = rooms.publisher.clear()
    return found


async def index(rooms: Rooms, *batches: SourceEmbedded) -> None:
    for batch in batches:
        await rooms.indexing.index(received(batch))


def asked(rooms: Rooms) -> list[str]:
    assert rooms.model is not None
    found, rooms.model.asked = rooms.model.asked, []
    return found


USAGE = "select chunks, reused_chunks, tokens from embedding_usage where organization_id = %s order by source_id, batch"


async def test_text_that_the_organization_has_is_not_embedded_again(rooms: Rooms, tables: Tables) -> None:
    organization = uuid4()
    first, second = Stored(tables, organization), Stored(tables, organization)
    embedded = await embed(rooms, *first.batches(["shared", "own"]))
    await index(rooms, *embedded)
    assert asked(rooms) == ["shared", "own"]
    again = await embed(rooms, *second.batches(["shared", "new"]))
    assert asked(rooms) == ["new"]
    assert to_halfvec(again[0].vectors[:1], SPACE.dimensions) == to_halfvec(embedded[0].vectors[:1], SPACE.dimensions)
    assert sorted(tables.rows(USAGE, organization)) == [(1, 1, 5), (2, 0, 10)]


async def test_text_of_another_organization_is_embedded(rooms: Rooms, tables: Tables) -> None:
    theirs, mine = Stored(tables, uuid4()), Stored(tables, uuid4())
    await index(rooms, *await embed(rooms, *theirs.batches(["shared"])))
    asked(rooms)
    await embed(rooms, *mine.batches(["shared"]))
    assert asked(rooms) == ["shared"]
    assert tables.rows(USAGE, mine.organization) == [(1, 0, 5)]


async def test_organizations_that_ask_at_the_same_time_do_not_share(rooms: Rooms, tables: Tables) -> None:
    theirs, mine = Stored(tables, uuid4()), Stored(tables, uuid4())
    await index(rooms, *await embed(rooms, *theirs.batches(["shared"])))
    asked(rooms)
    events = [*mine.batches(["shared"]), *Stored(tables, theirs.organization).batches(["shared"])]
    known = await asyncio.gather(*(rooms.store.known(event) for event in events * 3))
    assert [bool(found) for found in known] == [False, True] * 3


async def test_equal_texts_of_a_batch_are_embedded_once(rooms: Rooms, tables: Tables) -> None:
    source = Stored(tables, uuid4())
    (batch,) = await embed(rooms, *source.batches(["same", "other", "same"]))
    assert asked(rooms) == ["same", "other"]
    assert batch.vectors[0] == batch.vectors[2] != batch.vectors[1]


async def test_staged_batch_is_not_embedded_again(rooms: Rooms, tables: Tables) -> None:
    source = Stored(tables, uuid4())
    batches = source.batches(["one", "two", "three"], size=2)
    (staged,) = await embed(rooms, batches[0])
    await index(rooms, staged)
    asked(rooms)
    (again,) = await embed(rooms, batches[0])  # the lease ran out, and all comes again
    assert asked(rooms) == []
    assert again.vectors == staged.vectors
    assert tables.rows(USAGE, source.organization) == [(2, 0, 10)]


async def test_staged_batch_of_another_body_is_not_taken(rooms: Rooms, tables: Tables) -> None:
    source = Stored(tables, uuid4())
    await index(rooms, *await embed(rooms, source.batches(["one", "two", "three"], size=2)[0]))
    asked(rooms)
    await embed(rooms, source.batches(["four", "five", "six"], size=2)[0])
    assert asked(rooms) == ["four", "five"]


async def test_redelivered_batches_are_metered_once(rooms: Rooms, tables: Tables) -> None:
    source = Stored(tables, uuid4())
    batches = source.batches([f"text {number}" for number in range(7)], size=3)
    embedded = await embed(rooms, *batches)
    for batch in [*batches[::-1], *batches]:
        await embed(rooms, batch)
    await index(rooms, *embedded)
    await embed(rooms, *batches)
    assert tables.rows(USAGE, source.organization) == [(3, 0, 15), (3, 0, 15), (1, 0, 5)]


async def test_batch_delivered_to_two_embedders_at_once_is_metered_once(
    rooms: Rooms, postgres: Postgres, tables: Tables
) -> None:
    other = Rooms(postgres)
    await other.store.register()
    sources = [Stored(tables, uuid4()) for _ in range(5)]
    batches = [source.batches(["one", "two"])[0] for source in sources]
    await asyncio.gather(*(room.embedding.embed(batch) for room in (rooms, other) for batch in batches))
    assert tables.row("select count(*), sum(tokens) from embedding_usage") == (5, 50)


async def test_next_revision_is_metered_for_what_is_new(rooms: Rooms, tables: Tables) -> None:
    source = Stored(tables, uuid4())
    await index(rooms, *await embed(rooms, *source.batches(["one", "two"])))
    tables.rows("update knowledge_source set revision = 2, status = 'ingesting'")
    await embed(rooms, *source.batches(["one", "changed"], revision=2))
    query = "select revision, chunks, reused_chunks, tokens from embedding_usage order by revision"
    assert tables.rows(query) == [(1, 2, 0, 10), (2, 1, 1, 5)]


async def test_vectors_that_could_not_be_published_are_metered_once(rooms: Rooms, tables: Tables) -> None:
    source = Stored(tables, uuid4())
    (batch,) = source.batches(["one"])
    rooms.publisher.breaks_after = 0
    with pytest.raises(DependencyDown):
        await rooms.embedding.embed(batch)
    rooms.publisher.breaks_after = None
    assert len(await embed(rooms, batch)) == 1
    assert tables.rows(USAGE, source.organization) == [(1, 0, 5)]


async def test_vector_that_is_reused_is_stored_as_the_same_bits(rooms: Rooms, tables: Tables) -> None:
    organization = uuid4()
    for _ in range(3):
        source = Stored(tables, organization)
        await index(rooms, *await embed(rooms, *source.batches(["shared", str(source.id)])))
    query = (
        "select count(distinct v.embedding::text) from chunk_vector_1 v join chunk c on c.id = v.chunk_id "
        "where text = 'shared'"
    )
    assert tables.row(query) == (1,)


async def test_other_space_has_vectors_and_a_meter_of_its_own(rooms: Rooms, postgres: Postgres, tables: Tables) -> None:
    organization = uuid4()
    await index(rooms, *await embed(rooms, *Stored(tables, organization).batches(["shared"])))
    asked(rooms)
    other = Rooms(postgres, space=type(SPACE)("openai", "another", 4))
    await other.store.register()
    (batch,) = await embed(other, *Stored(tables, organization).batches(["shared"]))
    assert asked(other) == ["shared"]
    assert (batch.space, batch.dimensions) == ("openai/another@4", 4)
    assert tables.row("select count(distinct space) from embedding_usage") == (2,)


async def test_without_a_space_chunks_go_on_without_vectors(postgres: Postgres, tables: Tables) -> None:
    rooms = Rooms(postgres, space=None)
    await rooms.store.register()
    source = Stored(tables, uuid4())
    (batch,) = await embed(rooms, *source.batches(["one"]))
    assert (batch.space, batch.vectors) == (None, ())
    await index(rooms, batch)
    assert tables.row("select status, recipe from knowledge_source") == ("ready", "1/default/none")
