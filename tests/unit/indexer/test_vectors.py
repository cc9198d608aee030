from __future__ import annotations

import base64
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from services.indexer.vectors import to_halfvec


def given_as(vectors: Any) -> list[str]:
    return [base64.b64encode(row.astype("<f4").tobytes()).decode() for row in vectors]


def numbers(halfvec: bytes) -> Any:
    return np.frombuffer(halfvec, dtype=">f2", offset=4)


def numbers_of(shape: tuple[int, int]) -> Any:
    numbers = st.floats(-1e15, 1e15).map(np.float32).filter(lambda number: number == 0 or abs(number) > 1e-15)
    return arrays.arrays(np.float32, shape, elements=numbers)


@given(st.tuples(st.integers(1, 4), st.integers(1, 40)).flatmap(numbers_of))
def test_direction_is_kept_and_length_is_one(vectors: Any) -> None:
    for row, half in zip(vectors, to_halfvec(given_as(vectors), vectors.shape[1]), strict=True):
        length = float(np.linalg.norm(row.astype("f8")))
        if length:
            assert np.allclose(numbers(half).astype("f8"), row.astype("f8") / length, atol=3e-3)
        else:
            assert not numbers(half).any()


@given(
    arrays.arrays(np.float32, st.tuples(st.just(1), st.integers(1, 64)), elements=st.floats(-1, 1, width=32)),
    st.floats(0.997, 1.003),
)
def test_stored_vector_that_comes_back_is_the_same_bits(vectors: Any, length: float) -> None:
    norm = np.linalg.norm(vectors)
    vectors = vectors / norm * length if norm > 1e-6 else vectors
    stored = to_halfvec(given_as(vectors), vectors.shape[1])
    again = to_halfvec(given_as([numbers(half) for half in stored]), vectors.shape[1])
    assert again == stored


def test_head_is_what_pgvector_expects() -> None:
    (half,) = to_halfvec(given_as(np.array([[3.0, 4.0]])), 2)
    assert half[:4] == b"\0\2\0\0"
    assert numbers(half).tolist() == [np.float16(0.6), np.float16(0.8)]
