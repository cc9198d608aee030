"""Puts the arms' candidates in one order. Each candidate comes with its true score in both arms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

Fusion = Literal["scores", "rrf", "dense", "keyword"]

VECTOR_WEIGHT = 0.7
KEYWORD_WEIGHT = 0.3
RANK_CONSTANT = 60
_FLAT = 1e-9


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and standard deviation of an arm's score over all chunks that the reader can see."""

    mean: float
    deviation: float

    def standardize(self, score: float) -> float:
        """How many deviations a score is above the mean; 0 where all scores are the same."""
        return (score - self.mean) / self.deviation if self.deviation > _FLAT else 0.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that one of the arms found. `cosine` is None where it has no vector, `bm25` 0 where no word matches.

    The spreads are those of the organization that the chunk belongs to; None: the arm did not take part.
    """

    chunk_id: UUID
    cosine: float | None
    bm25: float
    cosines: Spread | None
    scores: Spread | None


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate in the final order. Ranks are from 1 within the arm; None: not among the arm's best."""

    candidate: Candidate
    score: float
    vector_rank: int | None
    keyword_rank: int | None


def fuse(candidates: Sequence[Candidate], fusion: Fusion, pool: int, k: int) -> list[Ranked]:
    """The k best, best first; equal scores in the order of ids. `pool` is the number that each arm puts forward."""
    vector_ranks = _ranks(candidates, lambda each: each.cosine, pool)
    keyword_ranks = _ranks(candidates, lambda each: each.bm25 or None, pool)
    ranked = []
    for each in candidates:
        of_vector, of_keyword = vector_ranks.get(each.chunk_id), keyword_ranks.get(each.chunk_id)
        score = _score(each, fusion, of_vector, of_keyword)
        if score is not None:
            ranked.append(Ranked(each, score, of_vector, of_keyword))
    ranked.sort(key=lambda each: (-each.score, each.candidate.chunk_id))
    return ranked[:k]


def _score(each: Candidate, fusion: Fusion, vector_rank: int | None, keyword_rank: int | None) -> float | None:
    if fusion == "dense":
        return each.cosine
    if fusion == "keyword":
        return each.bm25 or None
    if fusion == "rrf":
        return sum(1 / (RANK_CONSTANT + rank) for rank in (vector_rank, keyword_rank) if rank is not None)
    score = 0.0
    if each.cosine is not None and each.cosines is not None:
        score += VECTOR_WEIGHT * each.cosines.standardize(each.cosine)
    if each.scores is not None:
        score += KEYWORD_WEIGHT * each.scores.standardize(each.bm25)
    return score


def _ranks(
    candidates: Sequence[Candidate], score_of: Callable[[Candidate], float | None], pool: int
) -> dict[UUID, int]:
    found = [(-score, each.chunk_id) for each in candidates if (score := score_of(each)) is not None]
    return {chunk_id: rank for rank, (_, chunk_id) in enumerate(sorted(found)[:pool], 1)}
