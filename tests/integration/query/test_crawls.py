"""A crawl as callers wish for it and see it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from schemas.events import SourceSubmitted
from schemas.events.source import Crawl
from tests.integration.query.rows import Rows
from tests.integration.query.service import Service

URL = "https://x.test/docs/"


@pytest.fixture
def organization(rows: Rows) -> UUID:
    return rows.organization()


@pytest.fixture
def base(rows: Rows, organization: UUID) -> UUID:
    return rows.base(organization)


async def add(service: Service, base: UUID, headers: dict[str, str], **fields: Any) -> Any:
    path = f"/v1/knowledge-bases/{base}/sources"
    return await service.client.post(path, json={"kind": "url", "url": URL, **fields}, headers=headers)


async def test_a_crawl_is_wished_for_and_shown(service: Service, rows: Rows, organization: UUID, base: UUID) -> None:
    headers = await service.key(organization)
    added = await add(service, base, headers, crawl={"max_pages": 30, "prefix": "/docs/en/"}, language="de")
    [wish] = service.publisher.published
    assert isinstance(wish, SourceSubmitted)
    assert (wish.crawl, wish.language) == (Crawl(max_pages=30, prefix="/docs/en/"), "de")
    root = UUID(added.json()["id"])
    shown = (await service.client.get(f"/v1/sources/{root}", headers=headers)).json()
    assert (shown["language"], shown["parent_id"]) == ("de", None)
    counts = {"pages": 1, "ready": 0, "failed": 0, "pending": 1, "is_settled": False}
    assert shown["crawl"] == {"max_pages": 30, "depth": 8, "prefix": "/docs/en/", **counts}

    children = [rows.source(organization, base, [], parent_id=root, status=s) for s in ("ready", "failed", "pending")]
    rows.source(organization, base, [], parent_id=root, archived_at="2026-01-01")
    other = rows.source(organization, base, [])
    rows.execute("update knowledge_source set status = 'ready' where id = %s", root)
    rows.execute("update crawl set begun_revision = 1, settled_revision = 1 where root_id = %s", root)
    listed = (await service.client.get(f"/v1/knowledge-bases/{base}/sources", headers=headers)).json()["items"]
    crawls = {source["id"]: source["crawl"] for source in listed}
    assert crawls.pop(str(root)) == {
        "max_pages": 30, "depth": 8, "prefix": "/docs/en/",
        "pages": 4, "ready": 2, "failed": 1, "pending": 1, "is_settled": True,
    }  # fmt: skip
    assert set(crawls.values()) == {None}
    assert str(other) in crawls
    path = f"/v1/knowledge-bases/{base}/sources?parent_id={root}&limit=2"
    pages = [(await service.client.get(path, headers=headers)).json()]
    pages.append((await service.client.get(f"{path}&cursor={pages[0]['next_cursor']}", headers=headers)).json())
    found = [source for page in pages for source in page["items"]]
    assert {source["parent_id"] for source in found} == {str(root)}
    assert {source["id"] for source in found} > set(map(str, children))


async def test_adding_the_page_again_without_a_crawl_ends_it(
    service: Service, rows: Rows, organization: UUID, base: UUID
) -> None:
    headers = await service.key(organization)
    root = (await add(service, base, headers, crawl={})).json()["id"]
    await add(service, base, headers)
    assert (await service.client.get(f"/v1/sources/{root}", headers=headers)).json()["crawl"] is None


@pytest.mark.parametrize(
    "fields",
    [
        {"crawl": {"max_pages": 0}},
        {"crawl": {"max_pages": 5001}},
        {"crawl": {"depth": 21}},
        {"crawl": {"prefix": "docs"}},
        {"crawl": {"speed": 1}},
        {"crawl": True},
        {"language": "german"},
        {"language": "DE"},
        {"kind": "text", "text": "x", "crawl": {}},
    ],
)
async def test_crawls_that_can_not_be(service: Service, organization: UUID, base: UUID, fields: dict[str, Any]) -> None:
    answer = await add(service, base, await service.key(organization), **fields)
    assert (answer.status_code, answer.json()["code"]) == (422, "REQUEST_INVALID")
