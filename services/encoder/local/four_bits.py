"""Weights of 4 bits: blocks of 32 with a scale of 16 bits, 18 bytes a block.

The low halves of the 16 bytes are the first sixteen weights, the high halves the others, each 8 too large.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

WEIGHTS = 32
BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", WEIGHTS // 2)])


def from_blocks(raw: bytes) -> NDArray[np.float32]:
    """The weights of consecutive blocks, flat."""
    return _weights(np.frombuffer(raw, BLOCK)).reshape(-1)


class FourBitRows:
    """A matrix of 4-bit rows in a file, mapped into memory: what is not read takes no memory."""

    def __init__(self, path: Path, width: int) -> None:
        self._width = width
        self._blocks = np.memmap(path, BLOCK, mode="r").reshape(-1, width // WEIGHTS)

    def __call__(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Some rows, shape (rows, width). IndexError for one that is not there."""
        return _weights(self._blocks[rows]).reshape(len(rows), self._width)


def _weights(blocks: NDArray[np.void]) -> NDArray[np.float32]:
    """Shape (..., 32)."""
    halves = blocks["halves"]
    centred = np.concatenate([halves & 15, halves >> 4], axis=-1).astype(np.float32)
    centred -= 8
    centred *= blocks["scale"].astype(np.float32)[..., None]
    return centred
