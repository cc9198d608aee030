"""The offset to commit is that of the first message that is not done."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.chassis.delivery.progress import PartitionProgress


@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=40).flatmap(
        lambda steps: st.tuples(st.just(steps), st.permutations(range(len(steps))), st.integers(0, len(steps)))
    )
)
def test_in_whatever_order_messages_end_nothing_unfinished_is_passed(case: tuple[list[int], list[int], int]) -> None:
    steps, order, finished = case
    offsets = [sum(steps[: n + 1]) for n in range(len(steps))]  # with gaps, as compaction and transactions leave them
    progress = PartitionProgress()
    for offset in offsets:
        progress.take(offset)
    done: set[int] = set()
    for position in order[:finished]:
        progress.finish(offsets[position])
        done.add(offsets[position])
        open_ = [offset for offset in offsets if offset not in done]
        before = [offset for offset in offsets if offset < (open_[0] if open_ else offsets[-1] + 1)]
        assert progress.due == (before[-1] + 1 if before else None)
        assert progress.in_hand == len(open_)


def test_what_is_committed_is_not_due_again() -> None:
    progress = PartitionProgress()
    progress.take(7)
    progress.finish(7)
    assert progress.due == 8
    progress.committed = 8
    assert progress.due is None
