"""Counts of cl100k tokens, exact, and where each token begins in a text.

Nothing in a text is a special token: a literal `<|endoftext|>` is ordinary text. Counts of parts do not add up to the
count of the whole, since a token can reach across the cut.
"""

from __future__ import annotations

import gzip
import re
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Tokenizer(Protocol):
    """What is used of the compiled tokenizer."""

    def count(self, text: str) -> int: ...
    def encode(self, text: str) -> list[int]: ...
    def decode(self, tokens: list[int]) -> str: ...


_SURROGATE = re.compile("[\ud800-\udfff]")


def count_tokens(text: str) -> int:
    """The number of tokens of a text. A lone surrogate counts as U+FFFD."""
    try:
        return _tokenizer().count(text)
    except UnicodeEncodeError:
        return _tokenizer().count(without_surrogates(text))


def encode(text: str) -> list[int]:
    """The tokens of a text. A lone surrogate is taken for U+FFFD."""
    try:
        return _tokenizer().encode(text)
    except UnicodeEncodeError:
        return _tokenizer().encode(without_surrogates(text))


def decode(tokens: list[int]) -> str:
    """The text of tokens. ValueError where they begin or end inside a character."""
    return _tokenizer().decode(tokens)


def token_starts(text: str) -> NDArray[np.int64]:
    """The character offsets at which tokens begin, and the length of the text as the last: shape (tokens + 1,).

    A token that begins inside a character has the offset of that character, so several tokens can have the same.
    `text[starts[i]:starts[j]]` is whole characters and covers about `j - i` tokens.
    """
    text = without_surrogates(text)
    tokens = np.fromiter(encode(text), dtype=np.int64)
    ends = np.cumsum(_token_bytes()[tokens])
    starts = np.concatenate([np.zeros(1, np.int64), ends])
    if text.isascii():
        return starts
    encoded = np.frombuffer(text.encode(), np.uint8)
    begins_character = (encoded & 0xC0) != 0x80
    character_of_byte = np.cumsum(begins_character) - 1
    return np.append(character_of_byte[starts[:-1]], len(text))


def without_surrogates(text: str) -> str:
    """The text with each lone surrogate as U+FFFD, as no model takes it; offsets stay as they are."""
    return _SURROGATE.sub("\ufffd", text)


@cache
def _tokenizer() -> Tokenizer:
    """The compiled tokenizer, without the package around it.

    Importing the package would read three vocabularies into dictionaries: 60 MB and half a second in each process.
    """
    spec = PathFinder.find_spec("_bindings", [str(_package())])
    if spec is None or spec.loader is None:
        raise ImportError("bpe-openai holds no compiled tokenizer", name="bpe_openai")
    bindings = module_from_spec(spec)
    spec.loader.exec_module(bindings)
    tokenizer: Tokenizer = bindings.tokenizer_for_encoding("cl100k_base")
    return tokenizer


@cache
def _token_bytes() -> NDArray[np.int64]:
    """The length of each token in bytes, shape (100256,). The lines of the vocabulary are `base64 rank`."""
    lines = gzip.decompress((_package() / "data" / "cl100k_base.tiktoken.gz").read_bytes()).split()
    words, ranks = lines[0::2], np.array(lines[1::2], dtype=np.int64)
    lengths = np.zeros(ranks.max() + 1, np.int64)
    lengths[ranks] = [len(word) // 4 * 3 - word.count(b"=") for word in words]
    return lengths


def _package() -> Path:
    """The folder of the installed package."""
    spec = find_spec("bpe_openai")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("bpe-openai is not installed", name="bpe_openai")
    return Path(spec.submodule_search_locations[0])
