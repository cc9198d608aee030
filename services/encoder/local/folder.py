"""Any sentence model that lies in a folder: model.onnx and tokenizer.json, and what sentence-transformers adds.

config_sentence_transformers.json   prompts.query, prompts.passage or prompts.document: the prefixes
sentence_bert_config.json           max_seq_length: the most tokens of a text (512)
1_Pooling/config.json               pooling_mode_cls_token: the first token's vector instead of the mean
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from services.encoder.local.sentence_model import session, unit
from services.encoder.local.word_pieces import tokenizer
from services.encoder.spaces import EmbeddingSpace

MAX_TOKENS = 512
SENTENCE = "sentence_embedding"


class FolderModel:
    """The model of a folder. Safe to call from several threads."""

    def __init__(self, folder: Path) -> None:
        self._session = session(folder / "model.onnx", fuse=True)
        self._inputs = {each.name for each in self._session.get_inputs()}
        outputs = [each.name for each in self._session.get_outputs()]
        self._output = SENTENCE if SENTENCE in outputs else outputs[0]
        limit = _settings(folder / "sentence_bert_config.json").get("max_seq_length") or MAX_TOKENS
        self._tokenize = tokenizer(folder / "tokenizer.json", int(limit))
        self._first = bool(_settings(folder / "1_Pooling" / "config.json").get("pooling_mode_cls_token"))
        prompts = _settings(folder / "config_sentence_transformers.json").get("prompts") or {}
        self.space = EmbeddingSpace(
            "local",
            folder.resolve().name,
            len(self.embed("dimensions")) // 4,
            query_prefix=prompts.get("query") or "",
            passage_prefix=prompts.get("passage") or prompts.get("document") or "",
        )

    def embed(self, text: str) -> bytes:
        """The vector of a text, cut to what the tokenizer keeps."""
        tokens = np.asarray([self._tokenize(text)], np.int64)
        given = {"input_ids": tokens, "attention_mask": np.ones_like(tokens), "token_type_ids": np.zeros_like(tokens)}
        (output,) = self._session.run([self._output], {name: given[name] for name in self._inputs})
        return unit(self._pooled(output[0]))

    def _pooled(self, output: NDArray[np.float32]) -> NDArray[np.float32]:
        """(width,) of (width,) or of (tokens, width)."""
        if output.ndim == 1:
            return output
        return output[0] if self._first else np.asarray(output.mean(axis=0), np.float32)


def _settings(path: Path) -> dict[str, Any]:
    """A file of settings, empty if it is not there."""
    if not path.is_file():
        return {}
    content = json.loads(path.read_text())
    if not isinstance(content, dict):
        raise TypeError(f"{path} is not a JSON object")
    return content
