from __future__ import annotations

import pytest

from services.fetcher.crawling.findings import finding_of
from services.fetcher.crawling.links import links_of
from services.fetcher.crawling.scope import scope_of

SCOPE = scope_of("http://h/", "http://h/", None)


def finding(text: str, url: str = "http://h/a", final: str | None = None) -> tuple[str, tuple[str, ...], str | None]:
    found = finding_of(SCOPE, url, final or url, links_of(text.encode(), "utf-8", final or url), "x")
    return found.seen, found.links, found.same_as


def test_a_page() -> None:
    assert finding("<a href=b><a href='b#c'><a href='http://g/'>") == ("there", ("http://h/b",), None)


def test_an_address_that_leads_on_is_none() -> None:
    assert finding("<a href=c>", final="http://h/b") == ("duplicate", ("http://h/b",), "http://h/b")
    assert finding("<a href=c>", final="http://g/b") == ("unlisted", (), None)
    assert finding("<a href=c>", final="https://h/a") == ("there", ("http://h/c",), None)


def test_noindex_comes_before_what_the_page_calls_itself() -> None:
    text = "<meta name=robots content=noindex><link rel=canonical href='/a.html'><a href=b>"
    assert finding(text) == ("unlisted", ("http://h/b",), None)


@pytest.mark.parametrize("named", ["/", "/other", "http://g/a.html", "http://[", "/a"])
def test_names_that_are_not_of_the_same_page_are_not_believed(named: str) -> None:
    assert finding(f"<link rel=canonical href='{named}'>") == ("there", (), None)


def test_another_name_of_the_same_page_is_looked_at() -> None:
    found = finding("<link rel=canonical href='/a.html'><a href=b>")
    assert found == ("duplicate", ("http://h/b", "http://h/a.html"), "http://h/a.html")
