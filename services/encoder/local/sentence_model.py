"""One text in, one vector out: tokens, word rows, graph, length 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray

Rows = Callable[[NDArray[np.int64]], NDArray[np.float32]]
Tokenize = Callable[[str], Sequence[int]]

CHARACTERS_PER_TOKEN = 64
"""More than a token has in any script. What lies beyond could only take time: it is cut off before tokenizing."""


def session(path: Path, *, fuse: bool) -> onnxruntime.InferenceSession:
    """A session that computes in the thread that calls it, so that several texts can run side by side.

    `fuse` lets the runtime rewrite the graph. A graph that is written with fused operators is faster without: the
    runtime would join additions and normalizations to one operator that takes ten times as long as the two.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    level = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_ALL if fuse else level.ORT_ENABLE_BASIC
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def unit(vector: NDArray[np.float32]) -> bytes:
    """The vector with length 1 as little-endian float32 bytes. A vector of zeros stays one."""
    length = float(np.linalg.norm(vector))
    return (vector / length if length else vector).astype("<f4").tobytes()


class SentenceModel:
    """A graph of `services.encoder.local.graph` with its tokenizer and tables. Several threads may call it."""

    def __init__(self, graph: Path, tokenize: Tokenize, words: Rows, positions: NDArray[np.float32]) -> None:
        self._session = session(graph, fuse=False)
        self._tokenize = tokenize
        self._words = words
        self._positions = positions

    def embed(self, text: str) -> bytes:
        """The vector of a text, cut to what the tokenizer keeps."""
        tokens = np.asarray(self._tokenize(text), np.int64)
        embedded = self._words(tokens) + self._positions[: len(tokens)]
        (sentence,) = self._session.run(None, {"embedded": embedded[None]})
        return unit(sentence[0])
