from __future__ import annotations

import pytest

from services.fetcher.crawling.scope import is_same_page, scope_of

SITE = scope_of("https://example.org/docs/start.html", "https://example.org/docs/start.html", None)


@pytest.mark.parametrize(
    ("reference", "page"),
    [
        ("a", "https://example.org/docs/a"),
        ("a#part", "https://example.org/docs/a"),
        ("#part", "https://example.org/docs/start.html"),
        ("", "https://example.org/docs/start.html"),
        ("/docs/", "https://example.org/docs/"),
        ("//example.org/docs/b", "https://example.org/docs/b"),
        ("http://EXAMPLE.org:80/docs/b?utm_source=x", "https://example.org/docs/b"),
        ("b/../c", "https://example.org/docs/c"),
        ("b?page=2", "https://example.org/docs/b?page=2"),
        ("manual.pdf", "https://example.org/docs/manual.pdf"),
        ("notes.txt", "https://example.org/docs/notes.txt"),
        ("v1.2/", "https://example.org/docs/v1.2/"),
        ("class.png/", "https://example.org/docs/class.png/"),
        (".css", "https://example.org/docs/.css"),
        ("ä", "https://example.org/docs/%C3%A4"),
        ("..", None),
        ("../other", None),
        ("/docsify/", None),
        ("https://example.org:8443/docs/a", None),
        ("https://sub.example.org/docs/a", None),
        ("https://user:pw@example.org/docs/a", None),
        ("mailto:a@example.org", None),
        ("javascript:void(0)", None),
        ("data:text/html,x", None),
        ("http://[", None),
        ("logo.PNG?v=1", None),
        ("all.tar.gz", None),
        ("style.css", None),
        ("app.mjs", None),
        ("%2Epng", "https://example.org/docs/.png"),
        ("x" * 3000, None),
        ("feed.xml", None),
    ],
)
def test_what_is_a_page_of_the_site(reference: str, page: str | None) -> None:
    assert SITE.link("https://example.org/docs/start.html", reference) == page


@pytest.mark.parametrize(
    ("start", "final", "wished", "prefix"),
    [
        ("http://h/", "http://h/", None, "/"),
        ("http://h/docs", "http://h/docs", None, "/"),
        ("http://h/docs", "http://h/docs/", None, "/docs/"),
        ("http://h/docs/a.html", "http://h/docs/a.html", None, "/docs/"),
        ("http://h/", "http://h/en/latest/", None, "/"),
        ("http://h/x", "https://docs.h/en/", None, "/en/"),
        ("http://h/", "https://h/", None, "/"),
        ("http://h/docs/", "http://h/docs/", "/docs/guide", "/docs/guide"),
        ("http://h/docs/", "http://h/docs/", "/ä b/", "/%C3%A4%20b/"),
    ],
)
def test_the_folder_of_the_start_is_the_site(start: str, final: str, wished: str | None, prefix: str) -> None:
    assert scope_of(start, final, wished).prefix == prefix


def test_where_the_start_led_to_is_the_start() -> None:
    scope = scope_of("http://h/docs", "https://h/docs/", None)
    assert scope.page("http://h/docs/") == scope.page("https://h/docs/#top") == "http://h/docs"


@pytest.mark.parametrize(
    ("url", "other", "same"),
    [
        ("http://h/a", "http://h/a/", True),
        ("http://h/a", "http://h/a.html", True),
        ("http://h/a/", "http://h/a/index.html", True),
        ("http://h/", "http://h/index.php", True),
        ("http://h/a?print=1", "http://h/a", True),
        ("http://h/a", "http://h/b", False),
        ("http://h/a/", "http://h/", False),
        ("http://h/1.2", "http://h/1.3", False),
    ],
)
def test_names_of_one_page(url: str, other: str, same: bool) -> None:
    assert is_same_page(url, other) is same
