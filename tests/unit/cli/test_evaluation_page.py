"""The report of an evaluation."""

from __future__ import annotations

from html.parser import HTMLParser
from uuid import UUID
from xml.etree import ElementTree

import pytest

from services.cli.evaluation.asking import Asked, Searchable
from services.cli.evaluation.collection import Collection, Document, Query
from services.cli.evaluation.evaluation import Evaluated
from services.cli.evaluation.ingesting import Ingested
from services.cli.evaluation.page import page
from services.cli.report import histogram

HOSTILE = "<script>alert(1)</script>\"'&"


def evaluated(text: str) -> Evaluated:
    """One query whose document was found second, one whose document failed, and one that is perfect."""
    documents = [Document(f"d{number}{text}", text, text) for number in range(3)]
    first, second, failed = (document.id for document in documents)
    queries = [Query("q1", text, {second: 1}), Query("q2", text, {failed: 1}), Query("q3", text, {first: 1})]
    asked = [Asked(query, [first, second], 0.01 * at) for at, query in enumerate(queries, 1)]
    ingested = Ingested(
        UUID(int=1), {UUID(int=at): each for at, each in enumerate(documents)}, {failed: ("EMPTY", text)}, 2, 3, 1.0
    )
    searchable = Searchable([(query, query.text) for query in queries], 0, 0, [0.002, 0.004, 0.003])
    return Evaluated(Collection(text, documents, queries), "scores", "local/x@3", ingested, searchable, asked, 100)


class Tags(HTMLParser):
    """The page's elements, and whether each that was opened is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.open: list[str] = []
        self.references: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.references += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_figures_are_means_over_the_queries() -> None:
    figures = evaluated("x").figures()
    # 1 / log2(3), 0 and 1
    assert figures["nDCG@10"] == pytest.approx((0.6309297536 + 1) / 3, abs=1e-4)
    assert figures["recall@30"] == pytest.approx(2 / 3, abs=1e-4)
    assert figures["MRR@10"] == 0.5
    assert (figures["queries"], figures["documents"], figures["chunks"]) == (3, 3, 2)
    assert figures["failed"] == {"d2x": ["EMPTY", "x"]}
    assert figures["search_ms"] == {"p50": 20, "p95": 30}
    assert figures["model_ms"] == {"p50": 3, "p95": 4}


def test_whatever_texts_hold_stays_text() -> None:
    text = page([evaluated(HOSTILE)])
    tags = Tags(text)
    assert HOSTILE not in text
    assert "&lt;script&gt;" in text
    assert "script" not in tags.seen
    assert not tags.open


def test_the_page_needs_nothing_else() -> None:
    tags = Tags(page([evaluated("a"), evaluated("b")]))
    assert tags.references == []
    assert tags.seen.count("svg") == 2


def test_worst_queries_come_first_and_say_where_the_document_was() -> None:
    text = page([evaluated("x")])
    assert text.index("d2x): not found") < text.index("d1x): 2")
    assert "d0x): 1<" not in text, "a query that found all is none of the worst"
    assert "d2x: EMPTY: x" in text


def test_a_histogram_counts_tenths_and_1_is_in_the_last() -> None:
    svg = ElementTree.fromstring(histogram([0.0, 0.05, 0.1, 0.95, 1.0, 1.0]))
    assert svg.attrib["aria-label"].endswith(": 2, 1, 0, 0, 0, 0, 0, 0, 0, 3")
    heights = [float(bar.attrib["height"]) for bar in svg.iter("{http://www.w3.org/2000/svg}rect")]
    assert heights == [80, 40, 0, 0, 0, 0, 0, 0, 0, 120]
