"""From queries and answers to rankings of documents."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from uuid import UUID

from services.cli.evaluation.asking import as_asked, ranking
from services.cli.evaluation.collection import Document

DOCUMENTS = {UUID(int=number): Document(f"d{number}", "", "") for number in range(5)}


def hit(number: int, score: float, *also_in: Any) -> Any:
    row = SimpleNamespace(source_id=UUID(int=number), score=score)
    return SimpleNamespace(row=row, also_in=list(also_in))


def ranked(*hits: Any) -> list[str]:
    answer: Any = SimpleNamespace(hits=hits)
    return ranking(answer, DOCUMENTS)


def test_a_document_is_where_its_best_chunk_is() -> None:
    assert ranked(hit(2, 0.9), hit(1, 0.8), hit(2, 0.7), hit(3, 0.6), hit(1, 0.5)) == ["d2", "d1", "d3"]


def test_documents_whose_chunks_say_the_same_were_all_found() -> None:
    assert ranked(hit(2, 0.9, hit(1, 0.85), hit(4, 0.1)), hit(3, 0.6)) == ["d2", "d1", "d3", "d4"]


def test_equal_scores_keep_the_order_of_the_answer() -> None:
    assert ranked(hit(3, 0.5), hit(1, 0.5), hit(2, 0.5)) == ["d3", "d1", "d2"]


def test_a_query_that_is_too_long_is_cut_between_words() -> None:
    assert as_asked("word " * 120) == ("word " * 100).strip()
    assert as_asked("x" * 501) == "x" * 500
    assert as_asked("x" * 499 + " yyy") == "x" * 499
    assert as_asked("x" * 500 + " yyy") == "x" * 500
    assert as_asked("a " + "x" * 600) == "a " + "x" * 498


def test_a_query_that_is_too_short_is_none() -> None:
    assert as_asked(" ab\0 ") is None
    assert as_asked("  a\n  b ") == "a\n  b"
