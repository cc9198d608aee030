"""A canonical link is taken where it is another spelling of the same page."""

from __future__ import annotations

import pytest

from services.fetcher.reading.examination import examined

from .conftest import html_page


def named(url: str, *links: str) -> tuple[str, str | None]:
    """The final URL and the validator of a page at the URL with the links."""
    links_html = "".join(f'<link rel="canonical" href="{link}">' for link in links)
    page = examined(html_page(f"<head>{links_html}</head><p>Text</p>", url)).page
    return page.url_final, page.etag


@pytest.mark.parametrize(
    ("url", "link", "canonical"),
    [
        ("http://site.example/a", "https://site.example/a", "https://site.example/a"),
        ("https://site.example/a", "/a/", "https://site.example/a/"),
        ("https://site.example/a/index.html", "https://site.example/a/", "https://site.example/a/"),
        ("https://site.example/a.html", "https://site.example/a", "https://site.example/a"),
        ("https://site.example/a?ref=x&id=5", "https://site.example/a?id=5#top", "https://site.example/a?id=5"),
        ("https://site.example/A?print=1", "https://site.example/a", "https://site.example/a"),
        ("https://site.example/?ref=x", "https://site.example/", "https://site.example/"),
    ],
)
def test_another_spelling_is_taken_without_the_validators(url: str, link: str, canonical: str) -> None:
    assert named(url, link) == (canonical, None)


@pytest.mark.parametrize(
    ("url", "links"),
    [
        ("https://site.example/a", ["https://site.example/"]),
        ("https://site.example/a", ["https://other.example/a"]),
        ("https://site.example/a", ["http://site.example/a"]),
        ("https://site.example/a", ["http://site.example:8080/a"]),
        ("https://site.example/3.8/a", ["https://site.example/3/a"]),
        ("https://site.example/a?id=5", ["https://site.example/a"]),
        ("https://site.example/a?page=2", ["https://site.example/a"]),
        ("https://site.example/a", ["https://site.example/a?id=7"]),
        ("https://site.example/a/b", ["https://site.example/a"]),
        ("https://site.example/a", ["https://site.example/a/", "https://site.example/a.html"]),
        ("https://site.example/a", ["javascript:x"]),
        ("https://site.example/a", ["https://[::1"]),
        ("https://site.example/a", [""]),
        ("https://site.example/a", []),
    ],
)
def test_another_page_is_not(url: str, links: list[str]) -> None:
    assert named(url, *links) == (url, '"1"')
