"""What runs for each page, and for each look, reads none of the tables whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from services.chassis.queries import load_queries
from tests.support.migrated import Tables
from tests.support.plans import sequential_scans

PAGES = load_queries("services.fetcher.crawling", "pages.sql")
SETTLING = load_queries("services.fetcher.crawling", "settling.sql")
CRAWLS, SIZE = 20, 500
ROOT = UUID(int=1)


@pytest.fixture(scope="module")
def crawls(migrated: str) -> Iterator[Tables]:
    """Crawls that are settled, and one that is not, each with pages that lead to ten others."""
    tables = Tables(migrated)
    tables.forget_all()
    tables.rows("select ensure_organization(%s, %s)", ROOT, ROOT)
    tables.rows(
        "insert into knowledge_source "
        "(organization_id, id, knowledge_base_id, kind, url, status, wish_time, parent_id) "
        "select %s, lpad(to_hex(c * 10000 + n), 32, '0')::uuid, %s, "
        "'url', 'http://h/' || c || '/' || n, 'ready', now(), "
        "case when n > 1 then lpad(to_hex(c * 10000 + 1), 32, '0')::uuid end "
        "from generate_series(0, %s) c, generate_series(1, %s) n",
        ROOT, ROOT, CRAWLS - 1, SIZE,
    )  # fmt: skip
    tables.rows(
        "insert into crawl (organization_id, root_id, max_pages, depth, begun_revision, settled_revision) "
        "select organization_id, id, 5000, 8, 1, case when id <> %s then 1 end "
        "from knowledge_source where parent_id is null",
        ROOT,
    )  # fmt: skip
    tables.rows(
        "insert into crawl_page (organization_id, root_id, page_id, url, depth, seen, seen_revision, body_hash) "
        "select organization_id, coalesce(parent_id, id), id, url, 1, 'there', 1, md5(url) from knowledge_source"
    )
    tables.rows(
        "insert into crawl_link select p.organization_id, p.root_id, p.page_id, q.page_id, false "
        "from crawl_page p join crawl_page q on q.root_id = p.root_id and q.number between p.number and p.number + 10"
    )
    for table in ("knowledge_source", "crawl", "crawl_page", "crawl_link"):
        tables.rows(f"vacuum analyze {table}")
    yield tables
    tables.close()


PARAMETERS: dict[str, Any] = {
    "organization": ROOT, "base": ROOT, "root": ROOT, "source": UUID(int=2), "page": UUID(int=3), "revision": 1,
    "final_url": "http://h/0/1", "body_hash": "x", "seen": "there", "duplicate_of": None, "in_sitemap": False,
    "ids": [UUID(int=n) for n in range(2, 12)], "urls": [f"http://h/0/{n}" for n in range(2, 12)],
    "depths": [1] * 10, "keeps_places": True, "told_type": "t", "most": 10, "archived": True, "doubted": False,
}  # fmt: skip


@pytest.mark.parametrize("name", [*PAGES, *(f"settling {name}" for name in SETTLING)])
def test_no_statement_reads_a_whole_table(crawls: Tables, name: str) -> None:
    query = SETTLING[name.removeprefix("settling ")] if name.startswith("settling ") else PAGES[name]
    scanned = sequential_scans(crawls.dsn, query, PARAMETERS)
    assert not {"knowledge_source", "crawl_page", "crawl_link"} & set(scanned)
