from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.words import words_of


@pytest.mark.parametrize(
    ("text", "prose", "verbatim"),
    [
        ("plain words, nothing else.", "plain words, nothing else.", []),
        ("getUserById", "get User By Id", ["getuserbyid"]),
        ("max_retry_count", "max retry count", ["max_retry_count"]),
        ("HTTPServer", "HTTP Server", ["httpserver"]),
        ("app.config.load", "app config load", ["app.config.load", "config.load"]),
        ("src/main/app.py", "src main app py", ["src/main/app.py", "main/app.py", "app.py"]),
        ("std::vec::Vec", "std vec Vec", ["std::vec::vec", "vec::vec"]),
        ("v2.13.4", " ", ["v2.13.4", "2.13.4", "v2"]),
        ("ORA-00942", "ORA 00942", ["ora-00942"]),
        ("E1234", "1234", ["e1234"]),
        ("C++ and C#", "C and C", ["c++", "c#"]),
        ("__init__", "init", ["__init__"]),
        (
            "see https://docs.rs/tokio.",
            "see https docs rs tokio",
            ["https://docs.rs/tokio", "docs.rs/tokio", "rs/tokio"],
        ),
        ("a state-of-the-art e-mail", "a state-of-the-art e-mail", []),
        ("Café Straße Øre", "Cafe Strasse Ore", []),
        ("новый йод", "новый йод", []),
        ("日本語", " ", ["日本", "本語"]),
        ("犬 と 猫", "    ", ["犬", "と", "猫"]),
        ("한국어 text", "  text", ["한국", "국어"]),
        ("ＡＢＣ", "ABC", []),
    ],
)
def test_what_a_text_is_cut_into(text: str, prose: str, verbatim: list[str]) -> None:
    words = words_of(text)
    assert words.prose.split() == prose.split()
    assert words.verbatim == verbatim


@given(st.text(max_size=300))
def test_any_text_is_cut_in_time_and_into_lexemes_that_fit(text: str) -> None:
    words = words_of(text)
    assert all(lexeme and len(lexeme.encode("utf-8", "replace")) < 2046 for lexeme in words.verbatim)


@given(st.text(st.sampled_from("aB1_./:-+# 語"), max_size=60))
def test_a_query_of_a_token_meets_the_text_that_holds_it(token: str) -> None:
    """Cut alone and cut within a text, a token gives the same lexemes."""
    alone = words_of(token)
    within = words_of(f"before {token} after")
    assert set(alone.verbatim) <= set(within.verbatim)
    assert set(alone.prose.split()) <= set(within.prose.split())


def test_the_vector_tells_places() -> None:
    assert words_of("a_b c_d a_b it's").vector() == "'a_b':1,3 'c_d':2"
