"""Reading the body of an embeddings answer."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest

from schemas.codes import Code
from services.encoder.errors import EncoderRefused, EncoderUnavailable
from services.encoder.openai_compatible import OpenAICompatibleEncoder, vectors_of

ONE, TWO = np.array([1, 0], "<f4"), np.array([0, 2.5], "<f4")


def body(*entries: dict[str, object]) -> bytes:
    return json.dumps({"data": entries}).encode()


def packed(vector: np.ndarray) -> str:
    return base64.b64encode(vector.tobytes()).decode()


def test_base64_and_lists_of_numbers_give_the_same_bytes() -> None:
    as_text = body({"index": 0, "embedding": packed(TWO)})
    as_list = body({"index": 0, "embedding": TWO.tolist()})
    assert vectors_of(as_text, 1) == vectors_of(as_list, 1) == [TWO.tobytes()]


def test_the_index_decides_the_order() -> None:
    answer = body({"index": 1, "embedding": packed(TWO)}, {"index": 0, "embedding": packed(ONE)})
    assert vectors_of(answer, 2) == [ONE.tobytes(), TWO.tobytes()]


@pytest.mark.parametrize(
    "answer",
    [
        body({"index": 0, "embedding": packed(ONE)}),
        body({"index": 0, "embedding": packed(ONE)}, {"index": 0, "embedding": packed(ONE)}),
        body({"index": 0, "embedding": "%%%"}, {"index": 1, "embedding": "a"}),
        body({"index": 0, "embedding": None}, {"index": 1, "embedding": ["x"]}),
        b'{"error": {"message": "upstream"}}',
        b"[]",
        b"null",
    ],
)
def test_what_is_no_answer_to_two_inputs_is_refused(answer: bytes) -> None:
    with pytest.raises(EncoderRefused) as refused:
        vectors_of(answer, 2)
    assert refused.value.code == Code.PROVIDER_REFUSED


def test_a_page_of_a_proxy_counts_as_away() -> None:
    with pytest.raises(EncoderUnavailable):
        vectors_of(b"<html>Bad gateway</html>", 1)


async def test_a_model_of_unknown_length_needs_the_setting() -> None:
    with pytest.raises(EncoderRefused) as refused:
        OpenAICompatibleEncoder("nomic-embed-text", base_url="http://127.0.0.1:1/v1")
    assert refused.value.code == Code.MODEL_UNAVAILABLE
    encoder = OpenAICompatibleEncoder("nomic-embed-text", base_url="http://127.0.0.1:1/v1", dimensions=768)
    assert encoder.space.name == "openai/nomic-embed-text@768"
    await encoder.aclose()
