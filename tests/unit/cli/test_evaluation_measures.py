"""Measures against values that were computed by hand."""

from __future__ import annotations

import pytest

from services.cli.evaluation.measures import ndcg, percentile, recall, reciprocal_rank


def test_ndcg_takes_the_grade_as_the_gain() -> None:
    # (1 / log2(2) + 3 / log2(4)) / (3 / log2(2) + 1 / log2(3))
    assert ndcg(["a", "x", "b"], {"a": 1, "b": 3}) == pytest.approx((1 + 3 / 2) / (3 + 0.6309297536), abs=1e-9)


def test_ndcg_of_the_best_ranking_is_1_however_equal_grades_are_ordered() -> None:
    relevant = {"a": 2.0, "b": 1.0, "c": 1.0}
    assert ndcg(["a", "b", "c"], relevant) == ndcg(["a", "c", "b"], relevant) == pytest.approx(1)
    assert ndcg(["b", "a", "c"], relevant) < 1


def test_ndcg_looks_at_10_documents_of_the_ranking_and_of_the_best_one() -> None:
    others = [f"x{number}" for number in range(10)]
    assert ndcg([*others[:9], "a"], {"a": 1}) == pytest.approx(1 / 3.4594316186)
    assert ndcg([*others, "a"], {"a": 1}) == 0
    many = {f"d{number}": 1.0 for number in range(25)}
    assert ndcg(list(many)[:10], many) == pytest.approx(1)


def test_what_is_missing_costs() -> None:
    # 1 / (1 + 1 / log2(3))
    assert ndcg(["a"], {"a": 1, "b": 1}) == pytest.approx(1 / 1.6309297536)
    assert recall(["a"], {"a": 1, "b": 1}) == 0.5
    assert ndcg([], {"a": 1}) == recall([], {"a": 1}) == reciprocal_rank([], {"a": 1}) == 0


def test_recall_counts_the_first_30_against_all_relevant_ones() -> None:
    ranking = [f"x{number}" for number in range(29)] + ["a", "b"]
    assert recall(ranking, {"a": 1, "b": 2}) == 0.5
    assert recall(ranking, {"a": 1}) == 1


def test_reciprocal_rank_is_of_the_first_relevant_document_whatever_its_grade() -> None:
    assert reciprocal_rank(["x", "y", "b", "a"], {"a": 3, "b": 1}) == pytest.approx(1 / 3)
    assert reciprocal_rank([f"x{number}" for number in range(10)] + ["a"], {"a": 1}) == 0


def test_a_percentile_is_one_of_the_values() -> None:
    assert percentile([4, 1, 3, 2], 0.5) == 2
    assert percentile([4, 1, 3, 2], 0.95) == 4
    assert percentile(list(range(1, 101)), 0.95) == 95
    assert percentile([7], 0.5) == 7
    assert percentile([], 0.5) == 0
