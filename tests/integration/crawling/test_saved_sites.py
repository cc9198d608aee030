"""Saved documentation sites, served as a plain file server does and crawled by one wish."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import pytest

from tests.integration.crawling.conftest import Crawler

SITES = Path(__file__).parents[4] / "shared" / "data" / "sites"
# One of them is drawn by scripts: its pages are no HTML.
NAMES = [site.name for site in sorted(SITES.glob("*")) if len(list(site.rglob("*.html"))) > 1]


class Anchors(HTMLParser):
    """Collects where a page leads to."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given: dict[str, Any] = dict(attrs)
        if tag in {"a", "area"} and given.get("href") and "nofollow" not in (given.get("rel") or ""):
            self.found.append(given["href"])


def file_of(site: Path, path: str) -> Path | None:
    file = site / unquote(path).lstrip("/")
    file = file / "index.html" if file.is_dir() else file
    return file if file.is_file() else None


def reachable(site: Path, start: str) -> set[Path]:
    """The HTML files that links lead to from the start, within its folder."""
    folder = start.rpartition("/")[0] + "/"
    todo, seen = [start], {start}
    while todo:
        path = todo.pop()
        file = file_of(site, path)
        if file is None or file.suffix != ".html":
            continue
        anchors = Anchors()
        anchors.feed(file.read_text("utf-8", "replace"))
        for link in anchors.found:
            address = urlsplit(urljoin(f"http://host{path}", link))
            if address.netloc == "host" and address.path.startswith(folder) and address.path not in seen:
                seen.add(address.path)
                todo.append(address.path)
    found = {file_of(site, path) for path in seen}
    return {file for file in found if file and file.suffix == ".html"}


@pytest.mark.parametrize("name", NAMES or [pytest.param("none", marks=pytest.mark.skip("no saved sites are here"))])
async def test_each_page_of_a_saved_site_is_one_source(crawler: Crawler, name: str) -> None:
    site = SITES / name
    start = json.loads((site / "SITE.json").read_text())["start"]
    crawler.web.serve_folder(site)
    await crawler.crawl(start, max_pages=1000)
    expected = reachable(site, start)
    assert len(expected) > 10
    found = [file_of(site, path) for path in crawler.ready()]
    assert len(found) == len(expected)
    assert set(found) == expected
    await crawler.refresh(start)
    assert len(crawler.ready()) == len(expected)
    assert not crawler.archived()


@pytest.mark.parametrize("name", NAMES[:1] or [pytest.param("none", marks=pytest.mark.skip("no saved sites are here"))])
async def test_a_saved_site_within_a_limit(crawler: Crawler, name: str) -> None:
    site = SITES / name
    crawler.web.serve_folder(site)
    await crawler.crawl(json.loads((site / "SITE.json").read_text())["start"], max_pages=5)
    found = [file_of(site, path) for path in crawler.ready()]
    assert len(set(found)) == len(found) == 5
