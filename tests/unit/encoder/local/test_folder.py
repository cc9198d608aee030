"""Any model in a folder, written here as a tiny graph whose output is known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from services.encoder.local.folder import FolderModel
from services.encoder.opening import open_encoder
from services.encoder.settings import EncoderSettings

VECTORS = np.array([[1, 0, 0], [0, 2, 0], [0, 0, 3]], np.float32)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model that looks up a vector for each token: a, b and the unknown one."""
    made = tmp_path / "tiny"
    made.mkdir()
    node = helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])
    graph = helper.make_graph(
        [node],
        "tiny",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "tokens"])],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", 3])],
        [numpy_helper.from_array(VECTORS, "table")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), made / "model.onnx")
    write(made / "tokenizer.json", tokenizer_file())
    return made


def write(path: Path, content: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content))


def tokenizer_file() -> dict[str, Any]:
    model = {"type": "WordLevel", "vocab": {"a": 0, "b": 1, "[UNK]": 2}, "unk_token": "[UNK]"}
    padding = {"strategy": {"Fixed": 8}, "direction": "Right", "pad_to_multiple_of": None}
    padding |= {"pad_id": 2, "pad_type_id": 0, "pad_token": "[UNK]"}
    rest = dict.fromkeys(["truncation", "normalizer", "post_processor", "decoder"])
    return (
        {"version": "1.0", "padding": padding, "pre_tokenizer": {"type": "Whitespace"}, "model": model}
        | rest
        | {"added_tokens": []}
    )


def embedded(folder: Path, text: str) -> list[float]:
    return np.frombuffer(FolderModel(folder).embed(text), "<f4").round(4).tolist()


def test_the_mean_of_the_tokens_without_padding(folder: Path) -> None:
    assert embedded(folder, "a b") == pytest.approx([1 / 5**0.5, 2 / 5**0.5, 0], abs=1e-4)


def test_the_first_token_where_the_folder_says_so(folder: Path) -> None:
    write(folder / "1_Pooling" / "config.json", {"pooling_mode_cls_token": True})
    assert embedded(folder, "b a a") == [0, 1, 0]


def test_the_limit_of_the_folder(folder: Path) -> None:
    write(folder / "sentence_bert_config.json", {"max_seq_length": 2})
    assert embedded(folder, "a a b b") == [1, 0, 0]


async def test_opened_by_its_path_with_its_prefixes(folder: Path) -> None:
    write(folder / "config_sentence_transformers.json", {"prompts": {"query": "b ", "document": ""}})
    encoder = await open_encoder(EncoderSettings(model=str(folder)))
    assert encoder is not None
    assert encoder.space.name == "local/tiny@3"
    assert np.frombuffer(await encoder.embed_query("b"), "<f4").tolist() == [0, 1, 0]
    (passage,) = await encoder.embed_passages(["a"])
    assert np.frombuffer(passage, "<f4").tolist() == [1, 0, 0]
    await encoder.aclose()
