"""Nothing that can't be found or compared passes the border to a model."""

from __future__ import annotations

import numpy as np
import pytest

from schemas.codes import Code
from services.encoder.errors import EncoderRefused
from services.encoder.vectors import checked

GOOD = np.array([0.6, 0.8, 0.0], "<f4").tobytes()


def test_good_vectors_pass() -> None:
    checked([GOOD, np.array([-1e-9, 0, 0], "<f4").tobytes()], 3)
    checked([], 3)


@pytest.mark.parametrize("length", [0, 2, 4])
def test_other_lengths_are_refused(length: int) -> None:
    with pytest.raises(EncoderRefused) as refused:
        checked([GOOD, np.ones(length, "<f4").tobytes()], 3)
    assert refused.value.code == Code.WRONG_DIMENSIONS
    assert not refused.value.by_input


@pytest.mark.parametrize("bad", [[0, 0, 0], [1, np.nan, 0], [np.inf, 0, 0], [0, -np.inf, 1]])
def test_zeros_and_what_is_no_number_are_refused(bad: list[float]) -> None:
    with pytest.raises(EncoderRefused) as refused:
        checked([GOOD, np.array(bad, "<f4").tobytes(), GOOD], 3)
    assert refused.value.code == Code.BAD_VECTOR
    assert refused.value.by_input
    assert "input 1" in refused.value.reason
