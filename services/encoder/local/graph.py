"""A BERT encoder as an ONNX graph of fused int8 operators, written layer by layer.

Weights are quantized per column while they are added, so that the float32 weights of one layer at most are in memory.
Embedding look-up stays outside: the input is the sum of word, position and type embeddings, and the word table can be
a file mapped into memory. There is no mask: a run takes one text and no padding, which makes the vector independent of
what else is embedded, and is fastest.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Floats = NDArray[np.float32]
MICROSOFT = "com.microsoft"
INPUT, OUTPUT = "embedded", "sentence"


@dataclass(frozen=True, slots=True)
class Dense:
    """weights (in, out) and bias (out,)."""

    weights: Floats
    bias: Floats


@dataclass(frozen=True, slots=True)
class Norm:
    """Gain and offset of a layer normalization, (width,) each."""

    gain: Floats
    offset: Floats


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of a BERT encoder."""

    query: Dense
    key: Dense
    value: Dense
    output: Dense
    output_norm: Norm
    inner: Dense
    outer: Dense
    outer_norm: Norm


class BertGraph:
    """Collects the graph: `embedded` (1, tokens, width) in, `sentence` (1, width), the mean over the tokens, out."""

    def __init__(self, width: int, heads: int, epsilon: float, embedding_norm: Norm) -> None:
        self._width, self._heads, self._epsilon = width, heads, epsilon
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        self._last = self._normalized(INPUT, embedding_norm)

    def add(self, layer: Layer) -> None:
        """Append a layer."""
        before = self._last
        heads = [self._product(before, part.weights, part.bias) for part in (layer.query, layer.key, layer.value)]
        attended = self._node("MultiHeadAttention", heads, MICROSOFT, num_heads=self._heads)
        output = self._product(attended, layer.output.weights, layer.output.bias)
        middle = self._normalized(self._node("Add", [output, before]), layer.output_norm)
        inner = self._product(middle, layer.inner.weights)
        active = self._node("BiasGelu", [inner, self._constant(layer.inner.bias)], MICROSOFT)
        outer = self._product(active, layer.outer.weights, layer.outer.bias)
        self._last = self._normalized(self._node("Add", [outer, middle]), layer.outer_norm)

    def save(self, path: Path) -> None:
        """Write the model."""
        mean = helper.make_node("ReduceMean", [self._last, self._constant(np.array([1]))], [OUTPUT], keepdims=0)
        graph = helper.make_graph(
            [*self._nodes, mean],
            "bert",
            [helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, [1, "tokens", self._width])],
            [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, [1, self._width])],
            self._constants,
        )
        operators = [helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)]
        onnx.save(helper.make_model(graph, opset_imports=operators, ir_version=8), path)

    def _product(self, left: str, weights: Floats, bias: Floats | None = None) -> str:
        scale = np.abs(weights).max(axis=0) / 127
        scale[scale == 0] = 1
        whole = np.round(weights / scale).astype(np.int8)
        inputs = [left, self._constant(whole), self._constant(scale), self._constant(np.zeros(scale.shape, np.int8))]
        if bias is not None:
            inputs.append(self._constant(bias))
        return self._node("DynamicQuantizeMatMul", inputs, MICROSOFT)

    def _normalized(self, value: str, norm: Norm) -> str:
        inputs = [value, self._constant(norm.gain), self._constant(norm.offset)]
        return self._node("LayerNormalization", inputs, axis=-1, epsilon=self._epsilon)

    def _node(self, operator: str, inputs: list[str], domain: str = "", **attributes: Any) -> str:
        name = f"{operator}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, inputs, [name], domain=domain, **attributes))
        return name

    def _constant(self, values: NDArray[np.generic]) -> str:
        name = f"constant_{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name
