from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.encoder.tokens import count_tokens
from services.query.shortening import cut, shorten

PROSE = "Refunds take two weeks. They go to the card that was charged! Is it gone? Then write to us (by mail). " * 5


def test_a_text_within_the_budget_is_left_alone() -> None:
    assert cut(PROSE, count_tokens(PROSE)) == PROSE
    assert cut("", 0) == ""


@pytest.mark.parametrize("budget", range(20, 90, 3))
def test_prose_is_cut_at_the_end_of_a_sentence(budget: int) -> None:
    kept = cut(PROSE, budget)
    assert PROSE.startswith(kept)
    assert kept.endswith((".", "!", "?"))
    assert count_tokens(kept) <= budget


def test_where_no_sentence_ends_it_is_cut_between_words() -> None:
    text = "alpha beta gamma delta epsilon zeta eta theta " * 20
    for budget in range(3, 40):
        kept = cut(text, budget)
        assert text.startswith(kept + " ")


def test_a_far_away_sentence_is_not_worth_half_of_the_budget() -> None:
    text = "Short. " + "many words without an end " * 40
    assert len(cut(text, 40)) > 100


def test_chinese_sentences_end_without_a_space() -> None:
    text = "退款将在十四天内退回。请联系客服！我们会尽快处理您的问题。" * 6
    assert cut(text, 60)[-1] in "。！"


def test_a_word_without_an_end_is_cut_as_it_is() -> None:
    assert cut("x" * 4000, 10) == "x" * len(cut("x" * 4000, 10)) != ""


def test_one_is_cut_and_those_behind_it_are_empty() -> None:
    texts = ["One two three four.", PROSE, "Another text."]
    first, second, third = shorten(texts, 40)
    assert first == texts[0]
    assert PROSE.startswith(second)
    assert second
    assert third == ""


def test_a_budget_that_is_just_enough_leaves_all() -> None:
    texts = ["One two three four.", PROSE, "Another text."]
    assert shorten(texts, sum(map(count_tokens, texts))) == texts


@given(st.lists(st.text(max_size=200), max_size=6), st.integers(0, 120))
def test_any_texts_stay_within_any_budget(texts: list[str], budget: int) -> None:
    kept = shorten(texts, budget)
    assert sum(map(count_tokens, kept)) <= budget
    assert all(text.startswith(part) for text, part in zip(texts, kept, strict=True))
