"""Pages drawn by scripts, and the bounds of the look."""

from __future__ import annotations

import time
import tracemalloc

import pytest

from services.fetcher.reading.examination import examined
from services.fetcher.reading.markup import MAX_BYTES, markup
from services.fetcher.reading.refresh import refreshed_to

from .conftest import SENTENCE, html_page

SCRIPT = '<script src="/app.js"></script>'


@pytest.mark.parametrize(
    "html",
    [
        f'<title>App</title><div id="root"></div>{SCRIPT}',
        f'<title>App</title><div id="app">Loading …</div>{SCRIPT}',
        f"<title>App</title><my-app></my-app><noscript>This app needs JavaScript.</noscript>{SCRIPT}",
        "<title>App</title><script>document.write('all')</script>",
        f'<div id="__next"></div><script>{"x=1;" * 90_000}</script>',
    ],
)
def test_a_page_drawn_by_scripts_is_noticed(html: str) -> None:
    assert examined(html_page(html)).by_scripts


@pytest.mark.parametrize(
    "html",
    [
        f'<div id="root"><p>{SENTENCE * 4}</p></div>{SCRIPT}',
        '<div id="root"></div>',
        f"<p>Short.</p>{SCRIPT}",
        f"<p>{SENTENCE * 4}</p><noscript>Enable JavaScript for the search.</noscript>{SCRIPT}",
    ],
)
def test_other_pages_are_not(html: str) -> None:
    assert not examined(html_page(html)).by_scripts


def test_a_large_page_is_not_judged_by_its_beginning() -> None:
    menu = '<ul><li><a href="/x">x</a></li></ul>' * 3_000
    link = '<link rel="canonical" href="https://site.example/docs/page/">'
    page = html_page(f"<title>Access denied</title>{link}{menu}<h1>Access denied</h1><p>{SENTENCE * 30}</p>")
    assert examined(page).page.url_final == "https://site.example/docs/page/"


HOSTILE = {
    "attributes": "<a " + " ".join(f"x{n}=1" for n in range(150_000)) + ">",
    "attributes behind a comment": '<!-- <a x=" -->' + "<a " + " ".join(f"x{n}" for n in range(150_000)) + ">",
    "attributes of a long name": f"<{'a' * 5_000} " + " ".join(f"x{n}" for n in range(150_000)) + ">",
    "depth": "<div>" * 200_000,
    "depth with ends in comments": "<div><!--</div>-->" * 60_000,
    "formatting": "<p>" + "".join(f"<b x={n}>" for n in range(2_500)) + "</p><p>x" * 2_500,
    "half tags": "<a" * 500_000,
    "half comments": "<!--" * 250_000,
    "half scripts": "<script>" * 120_000,
    "half quotes": "<a x='<b y=\"" * 80_000,
    "spaces": "<a" + " " * 1_000_000,
    "a refresh of spaces": f"<meta http-equiv=refresh content='6{' ' * 900_000}x'>",
    "a long title": f"<title>{'login - not found: ' * 50_000}</title>",
    "nothing but hidden": "<html style='display:none'><body hidden><nav><a><nav hidden><a hidden>" * 500,
    "zeros": "\0" * 3_000_000,
}


@pytest.mark.parametrize("html", HOSTILE.values(), ids=HOSTILE)
def test_the_look_is_bounded(html: str) -> None:
    page = html_page(f"<meta http-equiv=refresh>{html}")
    tracemalloc.start()
    started = time.monotonic()
    assert refreshed_to(page) is None
    assert examined(page).page == page
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert time.monotonic() - started < 3
    assert peak < 100 * 2**20


@pytest.mark.parametrize("charset", ["punycode", "idna", "hex", "no-such", "utf-7", "unicode_escape"])
def test_a_charset_that_is_none_is_not_used(charset: str) -> None:
    source = markup(html_page("<p>ä</p>", charset=charset))
    assert source is not None
    assert source.html == "<p>ä</p>"


def test_only_the_first_mebibyte_is_looked_at() -> None:
    source = markup(html_page("x" * (MAX_BYTES + 10)))
    assert source == ("x" * MAX_BYTES, False, False)
