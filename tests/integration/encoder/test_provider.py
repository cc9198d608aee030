"""The provider that other tests rely on keeps its promises, as a process too."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest

from tests.support.provider import EmbeddingProvider, Fault, bag_vectors


@pytest.fixture
def address() -> Iterator[str]:
    """Where a provider of its own process listens."""
    command = [sys.executable, "-m", "tests.support.provider", "--dimensions", "8"]
    root = Path(__file__).parents[3]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip().removesuffix("/v1")
        process.terminate()


def embed(address: str, texts: list[str], **more: object) -> httpx.Response:
    return httpx.post(f"{address}/v1/embeddings", json={"model": "any", "input": texts, **more})


def test_faults_and_counts_over_http(address: str) -> None:
    faults = [{"kind": "status", "status": 429, "retry_after": "2", "times": 2}, {"kind": "zeros"}]
    assert httpx.post(f"{address}/faults", json=faults).json() == {"faults": 3}
    answers = [embed(address, ["a b c d"]) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [429, 429, 200, 200]
    assert answers[0].headers["retry-after"] == "2"
    assert not any(answers[2].json()["data"][0]["embedding"])
    assert any(answers[3].json()["data"][0]["embedding"])
    stats = httpx.get(f"{address}/stats").json()
    assert (stats["requests"], stats["answered"], stats["inputs"], stats["tokens"]) == (4, 2, 2, 2)


def test_vectors_are_the_same_in_every_process(address: str) -> None:
    numbers = embed(address, ["the same words", "漢字"]).json()["data"]
    here = bag_vectors(["the same words", "漢字"], 8)
    assert np.allclose([entry["embedding"] for entry in numbers], here, atol=1e-6)


def test_the_words_make_the_vector_not_their_order() -> None:
    one, same, near, far = bag_vectors(["reset a password", "Password: reset a!", "reset a key", "apple trees"], 1_536)
    assert np.allclose(one, same)
    assert one @ near > 0.5 > 0.1 > one @ far


def test_faults_of_a_text_stay_with_it() -> None:
    with EmbeddingProvider(dimensions=8) as provider:
        provider.fail(Fault("nan", text="poison", times=10))
        address = provider.base_url.removesuffix("/v1")
        entries = embed(address, ["fine", "a poisoned one"], encoding_format="float").json()["data"]
        assert [np.isnan(entry["embedding"]).any() for entry in entries] == [False, True]
        assert any(embed(address, ["fine"]).json()["data"][0]["embedding"])
        provider.forget_faults()
        assert not np.isnan(embed(address, ["poison"]).json()["data"][0]["embedding"]).any()
