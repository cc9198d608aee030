"""The int8 graph computes what plain float32 arithmetic does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from services.encoder.local.graph import BertGraph, Dense, Layer, Norm
from services.encoder.local.sentence_model import session
from tests.unit.encoder.local.plain_bert import Names, plain_bert

WIDTH, INNER, HEADS = 32, 64, 4
NAMES = Names("query", "key", "value", "output", "output_norm", "inner", "outer", "outer_norm")


@pytest.fixture
def weights() -> dict[str, np.ndarray]:
    numbers = np.random.default_rng(3)
    made = {}
    for name in ("first_norm", "output_norm", "outer_norm"):
        made[f"{name}.gain"], made[f"{name}.offset"] = numbers.normal(1, 0.1, WIDTH), numbers.normal(0, 0.1, WIDTH)
    sizes = dict.fromkeys(("query", "key", "value", "output"), (WIDTH, WIDTH))
    for name, size in (sizes | {"inner": (INNER, WIDTH), "outer": (WIDTH, INNER)}).items():
        made[f"{name}.matrix"], made[f"{name}.offset"] = numbers.normal(0, 0.2, size), numbers.normal(0, 0.1, size[0])
    made["output.matrix"][5] = 0
    return {name: values.astype(np.float32) for name, values in made.items()}


def sentence(path: Path, weights: dict[str, np.ndarray], embedded: np.ndarray) -> np.ndarray:
    def dense(name: str) -> Dense:
        return Dense(weights[f"{name}.matrix"].T, weights[f"{name}.offset"])

    def norm(name: str) -> Norm:
        return Norm(weights[f"{name}.gain"], weights[f"{name}.offset"])

    graph = BertGraph(WIDTH, HEADS, 1e-12, norm("first_norm"))
    projections = dense("query"), dense("key"), dense("value"), dense("output")
    layer = Layer(*projections, norm("output_norm"), dense("inner"), dense("outer"), norm("outer_norm"))
    graph.add(layer)
    graph.add(layer)
    graph.save(path)
    (found,) = session(path, fuse=False).run(None, {"embedded": embedded[None]})
    return found[0] / np.linalg.norm(found[0])


@pytest.mark.parametrize("tokens", [1, 2, 17])
def test_two_layers_one_column_of_zeros(tmp_path: Path, weights: dict[str, np.ndarray], tokens: int) -> None:
    embedded = np.random.default_rng(4).normal(size=(tokens, WIDTH)).astype(np.float32)
    expected = plain_bert(embedded, [NAMES, NAMES], weights.__getitem__, HEADS, "first_norm")
    assert sentence(tmp_path / "model.onnx", weights, embedded) @ expected > 0.999
