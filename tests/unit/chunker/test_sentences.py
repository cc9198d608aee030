from itertools import pairwise

import pytest

from services.chunker.sentences import cluster_start, fragments, line_starts, sentence_starts


def pieces(text: str, starts: list[int]) -> list[str]:
    return [text[first:last] for first, last in pairwise([0, *starts, len(text)])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One. ", "Two! ", "Three?"]),
        ('He said "no." Then he left.', ['He said "no." ', "Then he left."]),
        ("Use e.g. this, i.e. that", ["Use e.g. this, i.e. that"]),
        ("Version 1.2.3 is out", ["Version 1.2.3 is out"]),
        ("これは文です。次です！", ["これは文です。", "次です！"]),
        ("「はい。」彼は言った。", ["「はい。」", "彼は言った。"]),
        ("पहला वाक्य। दूसरा वाक्य।", ["पहला वाक्य। ", "दूसरा वाक्य।"]),
        ("سؤال؟ جواب", ["سؤال؟ ", "جواب"]),
        ("No end", ["No end"]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert pieces(text, sentence_starts(text, 0, len(text))) == expected


def test_lines() -> None:
    text = "a\n\n  \nb\n  c"
    assert pieces(text, line_starts(text, 0, len(text))) == ["a\n\n  \n", "b\n", "  c"]


def test_fragments_are_cut_at_blanks_where_there_are_any() -> None:
    text = "several short words " * 10
    found = pieces(text, list(fragments(text, 0, len(text), 30)))
    assert "".join(found) == text
    assert all(len(piece) <= 30 for piece in found)
    assert all(piece.endswith(" ") for piece in found)


@pytest.mark.parametrize(
    "cluster",
    [
        pytest.param("👩\u200d👩\u200d👧", id="joined emoji"),
        pytest.param("👍🏽", id="skin tone"),
        pytest.param("🇩🇪", id="flag"),
        pytest.param("🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", id="flag of tags"),
        pytest.param("1\ufe0f\u20e3", id="keycap"),
        pytest.param("e\u0301\u0323", id="combining marks"),
        pytest.param("\u1112\u1161\u11ab", id="Hangul in parts"),
        pytest.param("\u0e19\u0e49\u0e33", id="Thai"),
        pytest.param("\u0928\u093f", id="Devanagari vowel"),
        pytest.param("\uff76\uff9e", id="narrow kana"),
        pytest.param("\r\n", id="line end"),
    ],
)
def test_no_cut_within_what_readers_see_as_one_character(cluster: str) -> None:
    text = cluster * 40
    for length in range(len(cluster), 3 * len(cluster)):
        assert {place % len(cluster) for place in fragments(text, 0, len(text), length)} == {0}


def test_a_cluster_that_never_ends_is_cut_all_the_same() -> None:
    text = "a" + "\u0301" * 1000
    assert cluster_start(text, 500, 0) == 500
