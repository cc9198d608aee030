"""Tokenizers that come as a file `tokenizer.json`."""

from __future__ import annotations

from pathlib import Path

from tokenizers import Tokenizer

from services.encoder.local.sentence_model import CHARACTERS_PER_TOKEN, Tokenize


def tokenizer(path: Path, max_tokens: int) -> Tokenize:
    """Text to at most so many word pieces, the special ones among them. Padding and limits in the file are ignored."""
    pieces = Tokenizer.from_file(str(path))
    pieces.no_padding()
    pieces.enable_truncation(max_tokens)

    def tokenize(text: str) -> list[int]:
        return pieces.encode(text[: CHARACTERS_PER_TOKEN * max_tokens]).ids

    return tokenize
