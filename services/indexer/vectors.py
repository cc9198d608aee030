"""Vectors on their way from an event into a table."""

from __future__ import annotations

import base64
import struct
from collections.abc import Sequence

import numpy as np

_ROUNDING = 2e-3
"""Float16 moves the length of a unit vector by less than this."""


def to_halfvec(vectors: Sequence[str], dimensions: int) -> list[bytes]:
    """Binary form of pgvector's halfvec for each vector, scaled to length 1 unless it has that length already.

    Takes base64 of little-endian float32. Cosine does not see the scale, and float16 holds numbers up to 65,504 only.
    What was stored once and comes back as float32 is stored again as the same bits: it is left alone.
    """
    raw = b"".join(map(base64.b64decode, vectors))
    matrix = np.frombuffer(raw, dtype="<f4").reshape(len(vectors), dimensions)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    with np.errstate(over="ignore"):
        was_stored = (matrix.astype("<f2") == matrix).all(axis=1, keepdims=True) & (np.abs(lengths - 1) < _ROUNDING)
    scale = np.where((lengths > 0) & ~was_stored, lengths, 1)
    halves = (matrix / scale).astype(">f2")
    head = struct.pack(">HH", dimensions, 0)
    return [head + row.tobytes() for row in halves]
