"""A page of each generator of documentation: its content is there in order, what is around it is not.

In the pages, KEPT marks content and GONE what has to be left out.
"""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path

import pytest

from services.chunker.blocks import Document, Kind
from services.chunker.html.page import parse_html

PAGES = Path(__file__).parent / "pages"
HEADINGS: dict[str, list[tuple[str, str | None]]] = {
    "antora": [("Install", "preamble"), ("Needs", "_needs"), ("Sub", "_sub")],
    "docbook-xsl": [("Chapter 2. Wiring", "wiring"), ("Cables", "cables"), ("Plugs", "plugs"), ("Europe", "eu")],
    "docusaurus-1": [("Getting Started", "__docusaurus"), ("Install", "install"), ("With yarn", "with-yarn")],
    "docusaurus-2": [
        ("Guide", "__docusaurus_skipToContent_fallback"),
        ("Switch it on", "switch-it-on"),
        ("Dim it", "dim"),
    ],
    "docusaurus-3": [
        ("API", "__docusaurus_skipToContent_fallback"),
        ("Lampe an", "lampe-an"),
        ("kept7 Karte", "lampe-an"),
    ],
    "doxygen": [
        ("Public Member Functions", "pub-methods"),
        ("Detailed Description", "details"),
        ("Member Function Documentation", "details"),
        ("on()", "a1"),
    ],
    "github-readme": [("Lamp", "user-content-lamp"), ("Install", "user-content-install")],
    "help-center": [("Reset your lamp", "main-content"), ("Before you begin", "h_01"), ("Hard reset", "h_02")],
    "ms-learn": [("Create a lamp", "create-a-lamp"), ("Prerequisites", "prerequisites"), ("Next steps", "next-steps")],
    "pkg-go-dev": [
        ("lamp", "section-documentation"),
        ("Documentation", "section-documentation"),
        ("Overview", "pkg-overview"),
        ("Functions", "pkg-functions"),
    ],
    "sphinx-classic": [("lamp — Lighting", "module-lamp"), ("Objects", "objects")],
    "texinfo": [("3.1 Wiring", "Wiring-1")],
    "typedoc": [("Class Lamp", "tsd-search"), ("Methods", "tsd-search"), ("Methods", "tsd-search"), ("on", "on")],
    "gitbook": [("Webhooks", "setting-up"), ("Setting up", "setting-up")],
    "gitbook-legacy": [("Rooms", "rooms"), ("Kitchen", "kitchen")],
    "html4-tables": [("The Lamp FAQ", "q1"), ("Why is it dark?", "q1"), ("Where can I buy one?", "q2")],
    "hugo-book": [("Bulbs", "bulbs"), ("Kinds", "kinds")],
    "hugo-docsy": [("Concepts", "parts"), ("Parts", "parts"), ("Bulb", "bulb")],
    "javadoc": [
        ("Class Lamp", "class-description"),
        ("Method Summary", "method-summary"),
        ("Method Details", "method-detail"),
        ("on", "on(int)"),
    ],
    "javadoc-8": [
        ("Class Lamp", "navbar.top"),
        ("Method Summary", "method.summary"),
        ("Method Detail", "method.detail"),
    ],
    "just-the-docs": [("Buttons", "buttons"), ("Basic", "basic"), ("Sizes", "sizes")],
    "mdbook": [("Ownership", "ownership"), ("Moves", "moves")],
    "mediawiki": [
        ("Lamp", "firstHeading"),
        ("History", "History"),
        ("Oil lamps", "Oil_lamps"),
        ("References", "References"),
    ],
    "mediawiki-monobook": [("Setup", "firstHeading"), ("One", "One"), ("Two", "Two")],
    "mkdocs-default": [("Configuration", "configuration"), ("Keys", "keys"), ("name", "name")],
    "mkdocs-material": [("Tabs", "tabs"), ("Usage", "usage")],
    "nextra": [("Data fetching", "__next"), ("Hooks", "hooks"), ("Retry", "retry")],
    "readme-com": [("Authentication", "content-head"), ("Keys", "keys"), ("📘 kept3 Heads up", "keys")],
    "rustdoc": [
        ("Struct Lamp", "main-content"),
        ("Examples", "examples"),
        ("Implementations", "implementations"),
        ("impl Lamp", "impl-Lamp"),
    ],
    "sphinx-alabaster": [
        ("Quickstart", "quickstart"),
        ("A small example", "a-small-example"),
        ("Next steps", "next-steps"),
    ],
    "sphinx-book": [("Lamps in practice", "lamps-in-practice"), ("Wiring", "wiring")],
    "sphinx-pydata": [("Arrays", "arrays"), ("Shape", "shape")],
    "sphinx-rtd": [("Setup", "setup"), ("Needs", "needs"), ("Steps", "steps")],
    "starlight": [("Pages", "_top"), ("File formats", "file-formats")],
    "vitepress": [("Routing", "routing"), ("File based x", "file-based"), ("Under", "under")],
    "vuepress": [
        ("Assets", "assets"),
        ("Relative URLs", "relative"),
    ],
    "wordpress": [("How to fit a lamp", "post-7"), ("Tools", "tools"), ("Steps", "steps")],
}


def read(name: str) -> tuple[Document, int]:
    """The page with its marks numbered, parsed, and how many there are."""
    numbers = count(1)
    source = re.sub("KEPT", lambda _: f"kept{next(numbers)}", (PAGES / f"{name}.html").read_text())
    return parse_html(source, "utf-8"), next(numbers) - 1


def test_each_page_is_looked_at() -> None:
    assert {path.stem for path in PAGES.glob("*.html")} == set(HEADINGS)


@pytest.mark.parametrize("name", HEADINGS)
def test_content_is_complete_and_in_order(name: str) -> None:
    document, marks = read(name)
    assert [int(number) for number in re.findall(r"kept(\d+)", document.text)] == list(range(1, marks + 1))


@pytest.mark.parametrize("name", HEADINGS)
def test_furniture_is_left_out(name: str) -> None:
    document, _ = read(name)
    assert not [block.text for block in document.blocks if "GONE" in block.text]
    assert not [
        block.text for block in document.blocks if block.kind is Kind.HEADING and re.search("[¶§#◆\uf0c1]", block.text)
    ]


@pytest.mark.parametrize("name", HEADINGS)
def test_headings_have_the_ids_that_lead_to_them(name: str) -> None:
    document, _ = read(name)
    found = [(block.text, block.locator.anchor) for block in document.blocks if block.kind is Kind.HEADING]
    assert found == HEADINGS[name]
