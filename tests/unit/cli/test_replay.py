"""Comparing rankings, and what is made of the comparisons."""

from __future__ import annotations

import re
from pathlib import Path
from uuid import UUID
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.cli.failures import CommandFailed
from services.cli.replaying.agreement import kendall_tau, overlap, rank_biased_overlap
from services.cli.replaying.page import page
from services.cli.replaying.replaying import encoder_settings
from services.cli.replaying.summary import Compared, summary
from services.cli.report import histogram
from tests.unit.cli.conftest import Kb


@pytest.mark.parametrize(
    ("one", "other", "k", "expected"),
    [
        ("abc", "abc", 3, 1.0),
        ("abc", "cba", 3, 1.0),
        ("abc", "abd", 3, 2 / 3),
        ("abc", "abd", 2, 1.0),
        ("abc", "ab", 6, 2 / 3),
        ("ab", "", 6, 0.0),
        ("", "", 6, 1.0),
    ],
)
def test_overlap(one: str, other: str, k: int, expected: float) -> None:
    assert overlap(one, other, k) == overlap(other, one, k) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("one", "other", "p", "expected"),
    [
        ("abc", "abc", 0.9, 1.0),
        ("abc", "def", 0.9, 0.0),
        ("ab", "ba", 0.9, 0.9),  # 1/9 * .81 + .81
        ("abc", "acb", 0.9, 0.955),  # 1/9 * (.9 + .81/2 + .729) + .729
        ("ab", "bc", 0.5, 0.25),  # .25/2 + .25/2
        ("a", "ab", 0.9, 1.0),  # 1/9 * (.9 + .81/2 + .81/2) + .81
        ("ab", "bca", 0.5, 1 / 3),  # .25/2 + .125*2/3 + .125/6 + (1/3 + 1/2) * .125
        ("a", "", 0.9, 0.0),
        ("", "", 0.9, 1.0),
    ],
)
def test_rank_biased_overlap(one: str, other: str, p: float, expected: float) -> None:
    assert rank_biased_overlap(one, other, p) == pytest.approx(expected)
    assert rank_biased_overlap(other, one, p) == pytest.approx(expected)


def test_the_top_weighs_most() -> None:
    assert rank_biased_overlap("abcdef", "bacdef") < rank_biased_overlap("abcdef", "abcdfe") < 1


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("abc", "abc", 1.0),
        ("abc", "cba", -1.0),
        ("abcd", "abdc", 2 / 3),  # five pairs of six
        ("abcd", "badc", 1 / 3),
        ("axb", "bya", -1.0),
        ("ab", "bc", None),
        ("", "", None),
    ],
)
def test_kendall_tau(one: str, other: str, expected: float | None) -> None:
    assert kendall_tau(one, other) == kendall_tau(other, one) == (expected and pytest.approx(expected))


RANKING = st.lists(st.integers(0, 20), unique=True, max_size=15)


@given(RANKING, RANKING)
def test_measures_keep_to_their_ranges_and_know_no_order_of_arguments(one: list[int], other: list[int]) -> None:
    assert 0 <= rank_biased_overlap(one, other) <= 1 + 1e-12
    assert rank_biased_overlap(one, other) == pytest.approx(rank_biased_overlap(other, one))
    assert 0 <= overlap(one, other, 15) <= 1
    assert rank_biased_overlap(one, one) == pytest.approx(1)
    if (tau := kendall_tau(one, other)) is not None:
        assert -1 <= tau <= 1
        assert kendall_tau(one, other[::-1]) == pytest.approx(-tau)


def compared(query: str, before: list[int], after: list[int], gone: int = 0, took_ms: float = 10.0) -> Compared:
    ids = [[UUID(int=number) for number in ranking] for ranking in (before, after)]
    return Compared(query, "2026-01-01T00:00:00+00:00", 6, ids[0], ids[1], gone, 20.0, took_ms)


def test_the_summary_counts_and_puts_the_most_changed_first() -> None:
    found = summary(
        [
            compared("same", [1, 2], [1, 2]),
            compared("other", [1, 2], [3, 4], gone=3),
            compared("turned", [1, 2], [2, 1]),
        ]
    )
    assert [row["query"] for row in found["compared"]] == ["other", "turned", "same"]
    assert (found["queries"], found["unchanged"], found["gone_chunks"]) == (3, 1, 3)
    assert found["overlap"]["mean"] == pytest.approx(2 / 3)
    assert found["rbo"]["p50"] == pytest.approx(0.9)
    assert (found["tau"]["count"], found["tau"]["mean"]) == (2, 0.0)
    assert (found["took_ms_before"]["p90"], found["took_ms"]["p10"]) == (20.0, 10.0)


def test_quantiles_are_values_that_occur() -> None:
    found = summary([compared("same", [1], [1], took_ms=float(number)) for number in range(1, 11)])
    assert [found["took_ms"][name] for name in ("p10", "p25", "p50", "p75", "p90")] == [1.0, 3.0, 5.0, 8.0, 9.0]


def test_a_summary_of_nothing() -> None:
    found = summary([])
    assert (found["queries"], found["overlap"]["count"], found["overlap"]["mean"], found["rbo"]["p50"]) == (
        0, 0, None, None,
    )  # fmt: skip
    assert "0 queries" in page(
        {"organization": "o", "fusion": None, "space": None, "k": None, "without_text": 0, **found}
    )


def test_the_page_needs_nothing_and_escapes_what_people_wrote() -> None:
    query = "<script>alert('x')</script> & \"more\""
    found = summary([compared(query, [1], [1]), compared("b", [1, 2], [2, 3])])
    written = page({"organization": "o", "fusion": "rrf", "space": "<b>", "k": None, "without_text": 1, **found})
    assert "<script" not in written
    assert "<b>" not in written
    assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt; &amp; &quot;more&quot;" in written
    assert not re.findall(r"""(?:src|href)=|url\(|@import""", written)
    assert written.count("<svg") == 3


def test_a_histogram_is_wellformed_and_counts_each_value_once() -> None:
    svg = ElementTree.fromstring(histogram([-1.0, -1.0, 0.0, 0.99, 1.0], least=-1.0))
    assert svg.get("aria-label") == "Queries in each tenth: 2, 0, 0, 0, 0, 1, 0, 0, 0, 2"
    ElementTree.fromstring(histogram([], least=0.0))


def test_a_space_names_its_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KB_MODEL", "local/multilingual-e5-small")
    found = encoder_settings("openai/org/some@model@256")
    assert (found.model, found.embedding_dimensions) == ("openai/org/some@model", 256)
    assert encoder_settings(None).model == "local/multilingual-e5-small"
    monkeypatch.setenv("KB_MODEL", str(tmp_path))
    assert encoder_settings("local/folder@8").model == str(tmp_path)


@pytest.mark.parametrize("space", ["", "local/model", "@5", "a/b@", "a/b@0", "a/b@x", "a/b@-1", "a/b@²"])
def test_what_is_no_space_is_refused(monkeypatch: pytest.MonkeyPatch, space: str) -> None:
    monkeypatch.delenv("KB_MODEL", raising=False)
    with pytest.raises(CommandFailed, match="REQUEST_INVALID"):
        encoder_settings(space)


def test_the_command_checks_before_it_works(kb: Kb, tmp_path: Path) -> None:
    away = {"KB_POSTGRES_DSN": "postgresql://127.0.0.1:1/kb?connect_timeout=2"}
    assert kb("replay", "--fusion", "best", **away).error.startswith("REQUEST_INVALID: ")
    assert kb("replay", "--report", str(tmp_path / "none" / "x.html"), **away).error.startswith("NOT_FOUND: ")
