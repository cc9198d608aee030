"""A page that is fetched again costs only what has changed."""

from __future__ import annotations

from uuid import UUID, uuid4

from schemas.events import SourceMetadataChanged, SourceRefreshRequested, SourceRemoved, SourceSubmitted
from tests.support.pipeline import Pipeline
from tests.support.processes import eventually_async
from tests.support.provider import EmbeddingProvider
from tests.support.web import WebServer, conditional, status


def page(paragraphs: list[str]) -> bytes:
    body = "".join(f"<h2 id='p{n}'>Part {n}</h2><p>{text}</p>" for n, text in enumerate(paragraphs))
    return f"<html><head><title>The page</title></head><body><main><h1>Page</h1>{body}</main></body></html>".encode()


def paragraphs(count: int) -> list[str]:
    return [" ".join(f"word{n}x{word}" for word in range(120)) for n in range(count)]


async def refreshed(made: Pipeline, organization: UUID, url: str, revision: int) -> tuple[str, int]:
    """Ask for a refresh and wait for its end: status and live revision."""
    await made.publish(SourceRefreshRequested(organization_id=organization, url=url))

    async def done() -> bool:
        query = "select 1 from knowledge_source where revision = %s and status in ('ready', 'failed')"
        return bool(made.rows(query, revision))

    await eventually_async(done, 30)
    ((state, live),) = made.rows("select status, live_revision from knowledge_source")
    return state, live


def chunk_rows(made: Pipeline) -> set[tuple[str, str]]:
    """Each chunk with the transaction that wrote its row."""
    return set(made.rows("select id::text, xmin::text from chunk"))  # type: ignore[arg-type]


async def test_a_page_is_fetched_refreshed_changed_and_removed(made: Pipeline, provider: EmbeddingProvider) -> None:
    organization = uuid4()
    texts = paragraphs(40)
    await made.start()
    async with WebServer() as web:
        url = web.at("/page", conditional(page(texts), etag='"1"'))
        await made.publish(SourceSubmitted(organization_id=organization, kind="url", url=url + "#part"))
        assert await made.settled(organization, 1) == {"ready": 1}
        ((title, fetched_url),) = made.rows("select document_title, fetched_url from knowledge_source")
        assert (title, fetched_url) == ("The page", url)
        anchors = [row[0].get("anchor") for row in made.rows("select locator from chunk_place order by ordinal")]
        assert len(set(anchors)) > 5
        assert set(anchors) <= {f"p{n}" for n in range(40)} | {None}

        before, asked = chunk_rows(made), provider.stats.inputs
        assert await refreshed(made, organization, url, 2) == ("ready", 2)
        assert web.requests[-1].headers.get("if-none-match") == '"1"'
        assert chunk_rows(made) == before, "304: no row is written"

        web.at("/page", conditional(page(texts), etag='"2"'))
        assert await refreshed(made, organization, url, 3) == ("ready", 3)
        assert chunk_rows(made) == before, "the same body again: no row is written"
        assert provider.stats.inputs == asked

        texts[20] = "Something else entirely stands here now."
        web.at("/page", conditional(page(texts), etag='"3"'))
        assert await refreshed(made, organization, url, 4) == ("ready", 4)
        assert 1 <= provider.stats.inputs - asked <= 3
        kept = chunk_rows(made) & before
        assert len(kept) >= len(before) - 3, "chunks that did not change keep their row"

        web.at("/page", status(404))
        assert await refreshed(made, organization, url, 5) == ("failed", 4)
        assert made.rows("select error_code from knowledge_source") == [("HTTP_STATUS",)]
        assert len(chunk_rows(made)) >= len(before) - 3, "what was live is still there"

        await made.publish(SourceRemoved(organization_id=organization, url=url))

        async def gone() -> bool:
            return made.statuses(organization) == {"deleted": 1}

        await eventually_async(gone)
        for table in ("chunk", "chunk_place", "chunk_words", "chunk_vector_1", "revision_batch"):
            assert made.rows(f"select count(*) from {table}") == [(0,)], table


async def test_a_new_title_is_searched_at_once_and_embeds_nothing(made: Pipeline, provider: EmbeddingProvider) -> None:
    organization = uuid4()
    await made.start()
    await made.publish(
        SourceSubmitted(organization_id=organization, kind="text", external_id="a", text="Body.", title="Zebra")
    )
    await made.settled(organization, 1)
    asked, before = provider.stats.inputs, chunk_rows(made)
    await made.publish(SourceMetadataChanged(organization_id=organization, external_id="a", title="Giraffe"))

    async def found() -> bool:
        return made.rows("select count(*) from chunk_words where words @@ to_tsquery('english', 'giraffe')") == [(1,)]

    await eventually_async(found)
    assert made.rows("select count(*) from chunk_words where words @@ to_tsquery('english', 'zebra')") == [(0,)]
    assert (provider.stats.inputs, chunk_rows(made)) == (asked, before)
