"""How good a ranking of documents is. `relevant` holds the grade of each document that should be found, above 0.

A ranking names each document once, best first. Every measure is between 0 and 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, log2

NDCG_DEPTH = 10
RECALL_DEPTH = 30
MRR_DEPTH = 10


def ndcg(ranking: Sequence[str], relevant: Mapping[str, float], depth: int = NDCG_DEPTH) -> float:
    """Discounted cumulative gain over that of the best possible ranking. The gain is the grade, as in trec_eval."""
    best = _discounted(sorted(relevant.values(), reverse=True)[:depth])
    return _discounted(relevant.get(document, 0.0) for document in ranking[:depth]) / best if best else 0.0


def recall(ranking: Sequence[str], relevant: Mapping[str, float], depth: int = RECALL_DEPTH) -> float:
    """The share of the relevant documents that is among the first."""
    return len(relevant.keys() & set(ranking[:depth])) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranking: Sequence[str], relevant: Mapping[str, float], depth: int = MRR_DEPTH) -> float:
    """1 / the rank of the first relevant document; 0 where none is among the first."""
    ranks = (rank for rank, document in enumerate(ranking[:depth], 1) if document in relevant)
    return 1 / next(ranks, float("inf"))


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that the share of all, from 0 to 1, is not above; 0 without values."""
    ordered = sorted(values)
    return ordered[max(0, ceil(share * len(ordered)) - 1)] if ordered else 0.0


def _discounted(gains: Iterable[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))
