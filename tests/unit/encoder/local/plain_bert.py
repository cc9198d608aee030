"""A BERT encoder in plain float32 arithmetic, to compare the quantized graphs with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Weights = Callable[[str], np.ndarray]


@dataclass(frozen=True)
class Names:
    """What the parts of a layer are called in a file."""

    query: str
    key: str
    value: str
    output: str
    output_norm: str
    inner: str
    outer: str
    outer_norm: str


def plain_bert(embedded: np.ndarray, layers: list[Names], weights: Weights, heads: int, first_norm: str) -> np.ndarray:
    """The mean over the tokens with length 1, of embeddings (tokens, width). Matrices are (out, in)."""

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        return scaled * weights(f"{name}.gain") + weights(f"{name}.offset")

    def dense(x: np.ndarray, name: str) -> np.ndarray:
        return x @ weights(f"{name}.matrix").T + weights(f"{name}.offset")

    def split(x: np.ndarray) -> np.ndarray:
        return x.reshape(len(x), heads, -1).transpose(1, 0, 2)

    x = norm(embedded, first_norm)
    for names in layers:
        query, key, value = (split(dense(x, name)) for name in (names.query, names.key, names.value))
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(query.shape[-1])
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        attended = (shares / shares.sum(-1, keepdims=True)) @ value
        x = norm(x + dense(attended.transpose(1, 0, 2).reshape(x.shape), names.output), names.output_norm)
        inner = dense(x, names.inner)
        # The tanh form of GELU differs from the exact one by less than a thousandth.
        active = inner / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (inner + 0.044715 * inner**3)))
        x = norm(x + dense(active, names.outer), names.outer_norm)
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)
