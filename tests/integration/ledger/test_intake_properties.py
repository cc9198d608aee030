"""Whatever the order and number of deliveries, the ledger holds what the publisher wished last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from services.chassis.errors import EventRefused
from tests.support.bench import Bench
from tests.support.wishes import LEDGER, WHOLE_CHANGES, Clock, Wanted, held, histories, outcome

CLOCKS = st.sampled_from(("revisions", "times"))
REVISIONS = "select id, revision from knowledge_source where organization_id = %s"
ROWS = "select xmin, to_jsonb(s) from knowledge_source s where organization_id = %s order by id"


async def _refused(bench: Bench, wish: Any) -> bool:
    try:
        await bench.rooms.handle(wish)
    except EventRefused:
        return True
    return False


def _ends_as_in_order(bench: Bench, history: list[Wanted], clock: Clock, arrivals: Sequence[Wanted]) -> None:
    """Deliver, replay what was refused, and compare. On the way, revisions must not fall."""
    organization = bench.organization()
    revisions: dict[Any, int] = {}
    dead_letters = []
    for wish in arrivals:
        event = wish.event(organization, clock)
        if bench.run(_refused(bench, event)):
            dead_letters.append(event)
        now = dict(bench.tables.rows(REVISIONS, organization))
        assert all(now[id_] >= revision for id_, revision in revisions.items())
        revisions = now
    for event in dead_letters:
        bench.run(_refused(bench, event))
    assert held(bench.tables.rows(LEDGER, organization)) == outcome(history, organization)


@given(history=histories(WHOLE_CHANGES), clock=CLOCKS, data=st.data())
@settings(max_examples=150, deadline=None)
def test_any_order_of_wishes_ends_as_the_order_of_the_publisher(
    bench: Bench, history: list[Wanted], clock: Clock, data: st.DataObject
) -> None:
    again = data.draw(st.lists(st.sampled_from(history), max_size=3))
    _ends_as_in_order(bench, history, clock, data.draw(st.permutations([*history, *again])))


@given(history=histories(), clock=CLOCKS, data=st.data())
@settings(max_examples=150, deadline=None)
def test_any_order_of_changes_that_give_some_fields(
    bench: Bench, history: list[Wanted], clock: Clock, data: st.DataObject
) -> None:
    _ends_as_in_order(bench, history, clock, data.draw(st.permutations(history)))


@given(history=histories(), clock=CLOCKS, data=st.data())
@settings(max_examples=60, deadline=None)
def test_wishes_in_order_with_redeliveries(
    bench: Bench, history: list[Wanted], clock: Clock, data: st.DataObject
) -> None:
    organization = bench.organization()
    taken, dead_letters = [], []
    for wish in history:
        event = wish.event(organization, clock)
        (dead_letters if bench.run(_refused(bench, event)) else taken).append(event)
        # After a crash or a rebalance the last few come again, in order.
        before = bench.tables.rows(ROWS, organization)
        for earlier in taken[data.draw(st.integers(0, len(taken))) :]:
            bench.run(_refused(bench, earlier))
        assert bench.tables.rows(ROWS, organization) == before
    for event in dead_letters:
        bench.run(_refused(bench, event))
    assert held(bench.tables.rows(LEDGER, organization)) == outcome(history, organization)


@given(histories=st.tuples(histories(), histories()), clock=CLOCKS, data=st.data())
@settings(max_examples=40, deadline=None)
def test_organizations_do_not_touch_each_others_rows(
    bench: Bench, histories: tuple[list[Wanted], list[Wanted]], clock: Clock, data: st.DataObject
) -> None:
    organizations = (bench.organization(), bench.organization())
    waiting = [list(history) for history in histories]
    dead_letters = []
    while any(waiting):
        turn = data.draw(st.sampled_from([number for number in (0, 1) if waiting[number]]))
        other = organizations[1 - turn]
        before = bench.tables.rows(ROWS, other)
        event = waiting[turn].pop(0).event(organizations[turn], clock)
        if bench.run(_refused(bench, event)):
            dead_letters.append(event)
        assert bench.tables.rows(ROWS, other) == before
    for event in dead_letters:
        bench.run(_refused(bench, event))
    for organization, history in zip(organizations, histories, strict=True):
        assert held(bench.tables.rows(LEDGER, organization)) == outcome(history, organization)
