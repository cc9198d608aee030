from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.query.collapsing import collapse

LONG = " ".join(f"word{number}" for number in range(100))
CHINESE = "退款将在十四天内退回到原来付款的银行卡上如果超过这个时间请联系客服我们会尽快为您处理所有问题谢谢"


def groups(texts: list[str], k: int = 15) -> list[list[int]]:
    """The places of the texts, group by group."""
    found = collapse(list(enumerate(texts)), lambda each: each[1], k)
    return [[group.best[0], *(place for place, _ in group.others)] for group in found]


@pytest.mark.parametrize(
    "twin",
    [
        LONG,
        LONG.upper(),
        f"\n  {LONG.replace(' ', chr(10) * 2)}\t",
        LONG.replace("word50", "another"),  # 91 of 101 runs are shared
        f"{LONG} and two",
        LONG.replace(" ", ", "),
    ],
)
def test_what_says_the_same_takes_one_place(twin: str) -> None:
    assert groups([LONG, "something else", twin]) == [[0, 2], [1]]


@pytest.mark.parametrize(
    "other",
    [
        LONG.replace("word30", "another").replace("word60", "another"),  # 86 of 106
        " ".join(LONG.split()[:80]),
        " ".join(reversed(LONG.split())),
        "",
    ],
)
def test_what_says_something_else_does_not(other: str) -> None:
    assert groups([LONG, other]) == [[0], [1]]


def test_short_texts_are_compared_as_a_whole() -> None:
    assert groups(["Refund policy", "refund  POLICY", "refund policies", "...", "?!"]) == [[0, 1], [2], [3], [4]]


def test_scripts_without_spaces_are_compared_by_characters() -> None:
    assert groups([CHINESE, CHINESE + "。", CHINESE[:30] + "完全不同的内容在这里", "ข้อความ", "ข้อความอื่น"]) == [
        [0, 1],
        [2],
        [3],
        [4],
    ]


def test_likeness_is_to_the_best_one_so_it_does_not_wander() -> None:
    words = LONG.split()
    texts = [" ".join(words[start : start + 80]) for start in (0, 3, 6)]
    assert groups(texts) == [[0, 1], [2]]


def test_nothing_behind_the_last_place_is_looked_at() -> None:
    looked: list[str] = []

    def text_of(text: str) -> str:
        looked.append(text)
        return text

    found = collapse(iter(["a", "a", "b", "c", "a"]), text_of, 2)
    assert [(group.best, group.others) for group in found] == [("a", ["a"]), ("b", [])]
    assert looked == ["a", "a", "b"]


def test_no_items_and_no_places() -> None:
    assert groups([]) == []
    assert groups(["a"], k=0) == []


WORDS = st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta", "退", "款"]), max_size=12).map(" ".join)


@given(st.lists(WORDS, max_size=30), st.integers(1, 15))
def test_as_many_as_there_are_and_none_twice(texts: list[str], k: int) -> None:
    everything = groups(texts, k=len(texts) + 1)
    found = groups(texts, k)
    assert len(found) == min(k, len(everything))
    assert sorted(place for group in everything for place in group) == list(range(len(texts)))
    assert [group[0] for group in found] == [group[0] for group in everything][:k]
    assert [group[0] for group in found] == sorted(group[0] for group in found), "the order stays"


@given(st.sets(st.integers(0, 10**9), min_size=1, max_size=20), st.integers(1, 15), st.data())
def test_distinct_texts_all_come_however_often_they_are_repeated(
    numbers: set[int], k: int, data: st.DataObject
) -> None:
    distinct = [" ".join(f"{number}x{place}" for place in range(8)) for number in sorted(numbers)]
    texts = data.draw(st.permutations(distinct + data.draw(st.lists(st.sampled_from(distinct), max_size=30))))
    assert len(groups(texts, k)) == min(k, len(distinct))


@given(st.integers(5, 60), st.lists(st.integers(0, 59), max_size=4), st.integers(0, 6))
def test_alike_is_what_shares_nine_tenths_of_its_runs(length: int, changed: list[int], more: int) -> None:
    words = [f"w{number}" for number in range(length)]
    others = [f"x{place}" if place in changed else word for place, word in enumerate(words)] + ["end"] * more
    one, other = ({tuple(text[at : at + 5]) for at in range(len(text) - 4)} for text in (words, others))
    alike = words == others or len(one & other) >= 0.9 * len(one | other)
    assert len(groups([" ".join(words), " ".join(others)])) == (1 if alike else 2)
