"""Whatever the order and number of deliveries, the ledger holds what the publisher wished last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from services.chassis.errors import EventRefused
from tests.support.bench import Bench
from tests.support.wishes import LEDGER, Clock, Wanted, held, histories, outcome

CLOCKS = st.sampled_from(("revisions", "times"))


async def _deliver(bench: Bench, wishes: Sequence[Any]) -> list[Any]:
    """Gives those that were refused, as the dead-letter topic would."""
    refused = []
    for wish in wishes:
        try:
            await bench.rooms.handle(wish)
        except EventRefused:
            refused.append(wish)
    return refused


@given(history=histories(), clock=CLOCKS, data=st.data())
@settings(max_examples=150, deadline=None)
def test_any_order_of_wishes_ends_as_the_order_of_the_publisher(
    bench: Bench, history: list[Wanted], clock: Clock, data: st.DataObject
) -> None:
    organization = bench.organization()
    arrivals = data.draw(st.permutations(history))
    again = data.draw(st.lists(st.sampled_from(history), max_size=3))
    events = [wish.event(organization, clock) for wish in [*arrivals, *again]]
    refused = bench.run(_deliver(bench, events))
    # What was refused is replayed after the cause is gone, in whatever order.
    bench.run(_deliver(bench, refused))
    assert held(bench.tables.rows(LEDGER, organization)) == outcome(history, organization)
