"""What is remembered of replayed dead letters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.cli.dead_letter_topics import Replayed


@given(st.permutations(range(5, 25)))
def test_all_are_remembered_in_whatever_order(offsets: list[int]) -> None:
    state = Replayed(0, frozenset())
    for position, offset in enumerate(offsets):
        state = state.and_also(offset, first=5)
        done = set(offsets[: position + 1])
        assert {each for each in range(5, 25) if state.has(each)} == done
    assert state == Replayed(25, frozenset())


def test_the_note_stays_small() -> None:
    state = Replayed(0, frozenset())
    for offset in range(1, 2000, 2):
        state = state.and_also(offset, first=0)
    assert len(",".join(map(str, state.others))) < 4096
