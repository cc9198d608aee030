"""Requests keep to every limit of the provider, in order, and are as full as they may be."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.codes import Code
from services.embedder.batching import plan_requests, weight
from services.encoder.encoder import Limits
from services.encoder.errors import EncoderRefused
from services.encoder.tokens import count_tokens

LIMITS = Limits(max_inputs=5, max_tokens_per_request=100, max_tokens_per_input=60)

texts_with_counts = st.lists(
    st.tuples(st.text(st.sampled_from("ab 漢🤦"), max_size=120), st.integers(0, 60)), max_size=40
)


@given(texts_with_counts)
def test_every_limit_holds_and_nothing_is_lost(pairs: list[tuple[str, int]]) -> None:
    texts, counts = [text for text, _ in pairs], [count for _, count in pairs]
    weights = [weight(text, count) for text, count in pairs]
    requests = plan_requests(texts, counts, LIMITS)
    assert [position for request in requests for position in request] == list(range(len(texts)))
    for request in requests:
        assert 1 <= len(request) <= LIMITS.max_inputs
        assert len(request) == 1 or sum(weights[at] for at in request) <= LIMITS.max_tokens_per_request
    for request, following in pairwise(requests):
        with_next = [*request, following[0]]
        assert len(with_next) > LIMITS.max_inputs or sum(weights[at] for at in with_next) > 100


def test_weight_is_the_larger_of_tokens_and_a_quarter_of_the_bytes() -> None:
    assert weight("漢字" * 100, 10) == 150
    assert weight("a" * 9, 1) == 3
    assert weight("abcd", 30) == 30
    assert weight("\ud800", 0) == 1


def test_chinese_fills_a_request_by_its_bytes() -> None:
    """Common words of three characters are one token and nine bytes."""
    texts = ["一" * 48] * 8
    assert count_tokens(texts[0]) * 2 < 100
    assert [len(request) for request in plan_requests(texts, [20] * 8, LIMITS)] == [2, 2, 2, 2]


def test_a_text_above_the_limit_of_an_input_is_refused() -> None:
    assert plan_requests(["a"], [60], LIMITS) == [range(1)]
    with pytest.raises(EncoderRefused, match="text 1 has 61 tokens") as refused:
        plan_requests(["a", "b"], [60, 61], LIMITS)
    assert refused.value.code == Code.INPUT_TOO_LONG
    assert refused.value.by_input


def test_counts_have_to_match_the_texts() -> None:
    with pytest.raises(ValueError, match="zip"):
        plan_requests(["a", "b"], [1], LIMITS)
