from __future__ import annotations

from uuid import UUID

import pytest

from services.query.fusion import Candidate, Spread, fuse

COSINES, SCORES = Spread(0.5, 0.1), Spread(0.2, 1.0)


def candidate(number: int, cosine: float | None, bm25: float, **spreads: Spread | None) -> Candidate:
    given = {"cosines": COSINES, "scores": SCORES, **spreads}
    return Candidate(UUID(int=number), cosine, bm25, given["cosines"], given["scores"])


def order(candidates: list[Candidate], fusion: str, pool: int = 30, k: int = 15) -> list[int]:
    return [each.candidate.chunk_id.int for each in fuse(candidates, fusion, pool, k)]  # type: ignore[arg-type]


def test_scores_weigh_deviations_from_the_mean() -> None:
    # 0.7 * 2 + 0.3 * -0.2, and 0.7 * -1 + 0.3 * 4.8
    found = fuse([candidate(1, 0.7, 0.0), candidate(2, 0.4, 5.0)], "scores", 30, 6)
    assert [each.score for each in found] == pytest.approx([1.34, 0.74])
    assert [(each.vector_rank, each.keyword_rank) for each in found] == [(1, None), (2, 1)]


def test_each_is_measured_by_its_own_organization() -> None:
    near = candidate(1, 0.9, 0, cosines=Spread(0.8, 0.2))
    outstanding = candidate(2, 0.7, 0, cosines=Spread(0.3, 0.1))
    assert order([near, outstanding], "scores") == [2, 1]
    assert order([near, outstanding], "dense") == [1, 2]


def test_an_arm_without_differences_or_without_answers_says_nothing() -> None:
    flat = [candidate(1, 0.5, 3.0, cosines=Spread(0.5, 0.0)), candidate(2, 0.5, 4.0, cosines=Spread(0.5, 0.0))]
    assert order(flat, "scores") == [2, 1]
    only_vectors = [candidate(1, 0.5, 0, scores=None), candidate(2, 0.6, 0, scores=None)]
    assert order(only_vectors, "scores") == [2, 1]
    only_words = [candidate(1, None, 2.0, cosines=None), candidate(2, None, 3.0, cosines=None)]
    assert order(only_words, "scores") == [2, 1]


def test_reciprocal_ranks() -> None:
    found = fuse([candidate(1, 0.9, 1.0), candidate(2, 0.8, 2.0), candidate(3, 0.7, 3.0)], "rrf", 30, 6)
    assert [each.candidate.chunk_id.int for each in found] == [1, 3, 2]
    assert [each.score for each in found] == pytest.approx([1 / 61 + 1 / 63, 1 / 63 + 1 / 61, 2 / 62])


def test_reciprocal_ranks_are_of_what_an_arm_puts_forward() -> None:
    found = {each.candidate.chunk_id.int: each for each in fuse(
        [candidate(1, 0.9, 0.1), candidate(2, 0.8, 2.0), candidate(3, 0.7, 3.0)], "rrf", 2, 6)}  # fmt: skip
    assert (found[1].keyword_rank, found[3].vector_rank) == (None, None)
    assert found[1].score == pytest.approx(1 / 61)


def test_one_arm_alone_leaves_out_what_it_does_not_know() -> None:
    candidates = [candidate(1, None, 1.0), candidate(2, 0.8, 0.0)]
    assert order(candidates, "keyword") == [1]
    assert order(candidates, "dense") == [2]


@pytest.mark.parametrize("fusion", ["scores", "rrf", "dense", "keyword"])
def test_ties_are_broken_by_id_and_the_cut_comes_last(fusion: str) -> None:
    candidates = [candidate(number, 0.5, 1.0) for number in (5, 3, 4, 1, 2)]
    found = order(candidates, fusion)
    if fusion == "rrf":
        assert found == [1, 2, 3, 4, 5]
    assert found == sorted(found)
    assert order(candidates, fusion, k=2) == [1, 2]


def test_nothing_gives_nothing() -> None:
    assert order([], "scores") == []
