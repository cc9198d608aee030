"""The English model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from services.encoder.local.minilm import SPACE
from services.encoder.local.sentence_model import SentenceModel

Cosine = Callable[[SentenceModel, str, str], float]


def test_similar_sentences_are_near_and_others_far(english: SentenceModel, cosine: Cosine) -> None:
    near = cosine(english, "How do I reset my password?", "Steps to recover a forgotten password")
    far = cosine(english, "How do I reset my password?", "Apple trees are pruned in late winter")
    assert near > 0.6
    assert far < 0.2


def test_known_cosine_of_the_original_model(english: SentenceModel, cosine: Cosine) -> None:
    """The model card's first pair has 0.6660 in float32."""
    score = cosine(english, "That is a happy person", "That is a happy dog")
    assert score == pytest.approx(0.695, abs=0.03)


def test_vectors_have_length_one(english: SentenceModel) -> None:
    vector = np.frombuffer(english.embed("something"), "<f4")
    assert vector.shape == (SPACE.dimensions,)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_what_lies_beyond_256_word_pieces_does_not_count(english: SentenceModel) -> None:
    # 254 pieces and the two special ones.
    assert english.embed("word " * 254) == english.embed("word " * 254 + "different")
    assert english.embed("word " * 253) != english.embed("word " * 253 + "different")


@pytest.mark.parametrize("text", ["", "\x00", "🤦🏽‍♂️", "漢字", "x" * 100_000])
def test_any_text_has_a_vector(english: SentenceModel, text: str) -> None:
    assert np.isfinite(np.frombuffer(english.embed(text), "<f4")).all()
