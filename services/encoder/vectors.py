"""Checks at the border to a model: what passes can be stored, compared and found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from schemas.codes import Code
from services.encoder.errors import EncoderRefused

BYTES_PER_DIMENSION = 4


def checked(vectors: Sequence[bytes], dimensions: int) -> None:
    """EncoderRefused for vectors of another length (WRONG_DIMENSIONS), of zeros or not of numbers (BAD_VECTOR).

    Vectors are little-endian float32 bytes.
    """
    for vector in vectors:
        if len(vector) != dimensions * BYTES_PER_DIMENSION:
            reason = f"a vector has {len(vector) / BYTES_PER_DIMENSION:g} dimensions, not {dimensions}"
            raise EncoderRefused(Code.WRONG_DIMENSIONS, reason)
    matrix = np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), dimensions)
    # One number tells zeros, NaN and infinities apart from everything else.
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.einsum("ij,ij->i", matrix, matrix)
    bad = np.flatnonzero(~(np.isfinite(squares) & (squares > 0)))
    if bad.size:
        what = "zeros" if squares[bad[0]] == 0 else "values that are not finite numbers"
        raise EncoderRefused(Code.BAD_VECTOR, f"the vector of input {bad[0]} is of {what}", by_input=True)
