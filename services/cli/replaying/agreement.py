"""How much two rankings of the same query agree. A ranking holds an id once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations

PERSISTENCE = 0.9


def overlap(one: Sequence[Hashable], other: Sequence[Hashable], k: int) -> float:
    """The share of the first k that both have; of what there is, where neither has k. 1 where both are empty."""
    one, other = one[:k], other[:k]
    longest = max(len(one), len(other))
    return len(set(one) & set(other)) / longest if longest else 1.0


def rank_biased_overlap(one: Sequence[Hashable], other: Sequence[Hashable], p: float = PERSISTENCE) -> float:
    """Agreement that weighs the top most: each further place counts p times as much as the one before.

    Extrapolated for lists of uneven length, as in Webber, Moffat and Zobel, A similarity measure for indefinite
    rankings, equation 32. 1 where both are empty, 0 where one is.
    """
    shorter, longer = sorted((one, other), key=len)
    s, l = len(shorter), len(longer)  # noqa: E741  # the names in the paper
    if not s:
        return 0.0 if l else 1.0
    common = [len(set(shorter[:depth]) & set(longer[:depth])) for depth in range(l + 1)]
    agreed = sum(common[depth] / depth * p**depth for depth in range(1, l + 1))
    assumed = sum(common[s] * (depth - s) / (s * depth) * p**depth for depth in range(s + 1, l + 1))
    return (1 - p) / p * (agreed + assumed) + ((common[l] - common[s]) / l + common[s] / s) * p**l


def kendall_tau(one: Sequence[Hashable], other: Sequence[Hashable]) -> float | None:
    """Order among the ids that both have: 1 the same, -1 reversed. None where fewer than two are common."""
    places = {id: place for place, id in enumerate(other)}
    common = [places[id] for id in one if id in places]
    pairs = list(combinations(common, 2))
    if not pairs:
        return None
    return sum(1 if first < second else -1 for first, second in pairs) / len(pairs)
