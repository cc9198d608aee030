from __future__ import annotations

import time

import pytest

from services.fetcher.crawling.links import MOST_LINKS, is_html, links_of

URL = "http://h/docs/page"


def references(text: str | bytes, charset: str | None = "utf-8") -> list[str]:
    body = text.encode() if isinstance(text, str) else text
    return list(links_of(body, charset, URL).references)


def test_links_come_in_their_order_each_once() -> None:
    text = "<A HREF=b>1</A><a href=' a '>2</a><map><area href='c'></map><a href='b#x'>3</a><a name=x>4</a><a href>5</a>"
    assert references(text) == ["b", "a", "c"]


def test_links_in_places_where_browsers_find_them() -> None:
    text = "<p><a href=1><table><tr><a href=2></table><noscript><a href=3></noscript><b><a href='4&amp;x=1'>"
    assert references(text) == ["1", "2", "3", "4&x=1"]


def test_text_that_looks_like_links() -> None:
    text = (
        "<!-- <a href=1> --><script>'<a href=2>'</script><pre>&lt;a href=3&gt;</pre><link href=4 rel=next><img src=5>"
    )
    assert references(text) == []


@pytest.mark.parametrize("rel", ["nofollow", "noopener NoFollow", "nofollow\tugc"])
def test_links_that_are_not_to_be_followed(rel: str) -> None:
    assert references(f'<a rel="{rel}" href=1></a><a rel="nofollower" href=2></a>') == ["2"]


@pytest.mark.parametrize(
    ("meta", "noindex", "nofollow"),
    [
        ('<meta name="robots" content="noindex">', True, False),
        ('<META CONTENT="NoIndex, nofollow" NAME="ROBOTS">', True, True),
        ('<meta name="robots" content="none">', True, True),
        ('<meta name="robots" content="index,follow">', False, False),
        ('<meta name="googlebot" content="noindex">', False, False),
        ('<meta name="robots">', False, False),
    ],
)
def test_what_a_page_says_to_robots(meta: str, noindex: bool, nofollow: bool) -> None:
    found = links_of(f"<head>{meta}</head><a href=1>".encode(), None, URL)
    assert (found.noindex, found.nofollow) == (noindex, nofollow)
    assert list(found.references) == ([] if nofollow else ["1"])


def test_the_first_base_counts() -> None:
    assert links_of(b"<base target=x><base href='/x/'><base href='/y/'><a href=1>", None, URL).base == "http://h/x/"
    assert links_of(b"<base href='http://['><base href='/y/'>", None, URL).base == URL


def test_the_canonical_address() -> None:
    assert links_of(b"<link rel='alternate' href=/a><link rel='x Canonical' href=/b>", None, URL).canonical == "/b"


@pytest.mark.parametrize("charset", ["euc-kr", "utf-16le", "no such", None])
def test_charsets(charset: str | None) -> None:
    text = '<meta charset="euc-kr"><a href="/docs/한">1</a>'
    body = text.encode("utf-16-le" if charset == "utf-16le" else "euc-kr")
    assert references(body, charset) == ["/docs/한"]


@pytest.mark.parametrize(
    "text",
    [
        "<div>" * 200_000 + "<a href=x>",
        "<a href=x><b><i>" * 50_000,
        "<table><tr><td>" * 50_000,
        "<a " * 300_000,
        "<" * 1_000_000,
        "&" * 1_000_000,
        "<!doctype html [" + "<!ENTITY a 'aaaaaaaaaa'>" * 1000 + "]>&a;",
        "".join(f"<a href={n}>" for n in range(200_000)),
        "<a href=" + "x" * 1_000_000 + ">",
        "<a href='\0x'>\0</a>" * 1000,
    ],
)
def test_hostile_pages_are_read_in_bounded_time(text: str) -> None:
    started = time.perf_counter()
    assert len(references(text)) <= MOST_LINKS
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize(
    ("media_type", "body", "expected"),
    [
        ("text/html", b"", True),
        ("application/xhtml+xml", b"", True),
        ("text/plain", b"<html>", False),
        (None, b"\n<!DOCTYPE HTML>", True),
        (None, b"%PDF-1.7", False),
        ("application/pdf", b"<html>", False),
    ],
)
def test_what_is_looked_through(media_type: str | None, body: bytes, expected: bool) -> None:
    assert is_html(media_type, body) is expected
