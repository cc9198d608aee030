"""A site as one wish, through all services."""

from __future__ import annotations

from uuid import UUID, uuid4

from schemas.events import SourceRefreshRequested, SourceRemoved, SourceSubmitted
from schemas.events.source import Crawl
from tests.support.pipeline import Pipeline
from tests.support.processes import eventually_async
from tests.support.provider import EmbeddingProvider
from tests.support.site import html, linking, serve
from tests.support.web import WebServer, redirect, status

PAGES = ["/docs/", "/docs/a", "/docs/b", "/docs/c", "/docs/moved-here"]


def site(web: WebServer) -> None:
    """Five pages; beside them a copy, a redirect, a dead link, and what is not wanted or not of the site."""
    hidden = '<a rel="nofollow" href="/docs/hidden">h</a>'
    web.at("/docs/", html(linking("start", ["a", "b", "moved", "gone", "/other", "/docs/"], more=hidden)))
    serve(web, {"/docs/a": ["b", "index.html"], "/docs/b": ["c", "a"], "/docs/moved-here": [], "/other": []})
    web.at("/docs/index.html", html(linking("start", ["a", "b", "moved", "gone", "/other", "/docs/"], more=hidden)))
    web.at("/docs/moved", redirect("/docs/moved-here", 301))
    serve(web, {"/docs/c": [], "/docs/hidden": []})


def found(made: Pipeline, web: WebServer) -> dict[str, str]:
    """The state of each source by its path."""
    rows = made.rows(
        "select url, case when archived_at is null then status else 'archived' end from knowledge_source "
        "where deleted_at is null"
    )
    return {url.removeprefix(web.url("")): state for url, state in rows}


async def refreshed(made: Pipeline, organization: UUID, web: WebServer, revision: int) -> dict[str, str]:
    """Ask for a refresh and wait for its end."""
    if revision > 1:
        await made.publish(SourceRefreshRequested(organization_id=organization, url=web.url("/docs/")))

    async def done() -> bool:
        return made.rows("select settled_revision from crawl") == [(revision,)]

    await eventually_async(done, 60)
    return found(made, web)


async def test_a_site_comes_is_refreshed_and_goes(made: Pipeline, provider: EmbeddingProvider) -> None:
    organization = uuid4()
    await made.start()
    async with WebServer() as web:
        site(web)
        root = web.url("/docs/")
        wish = SourceSubmitted(organization_id=organization, kind="url", url=root, crawl=Crawl())
        await made.publish(wish)
        assert await refreshed(made, organization, web, 1) == dict.fromkeys(PAGES, "ready")
        assert "/docs/hidden" not in {request.path for request in web.requests}

        query = "select id::text, xmin::text from chunk order by 1"
        before, asked = made.rows(query), provider.stats.inputs
        web.requests.clear()
        assert await refreshed(made, organization, web, 2) == dict.fromkeys(PAGES, "ready")
        assert made.rows(query) == before, "304: no row is written"
        assert provider.stats.inputs == asked
        conditional = [request.path for request in web.requests if "if-none-match" in request.headers]
        assert sorted(conditional) == PAGES

        web.at("/docs/c", status(503))
        web.at("/docs/b", html(linking("/docs/b", [])))
        web.at("/docs/a", status(404))
        partly = await refreshed(made, organization, web, 3)
        assert set(partly.values()) <= {"ready", "failed"}, "nothing is archived while one page can't be had"

        serve(web, {"/docs/c": [], "/docs/b": ["c"]})
        assert await refreshed(made, organization, web, 4) == dict.fromkeys(PAGES, "ready") | {"/docs/a": "archived"}

        await made.publish(SourceRemoved(organization_id=organization, url=root))

        async def gone() -> bool:
            return not found(made, web) and made.rows("select count(*) from chunk") == [(0,)]

        await eventually_async(gone, 30)
