"""All stages together, while messages are lost, repeated, delayed and overtaken: the end is that of a quiet run."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.bench import Bench
from tests.support.disturbed import STEPS, Run, body
from tests.support.tables import dump
from tests.support.wishes import REFRESHES, REMOVALS, Wanted

SIZES = st.sampled_from((1, 4, 30))
HISTORIES = ("source_event", "embedding_usage", "taken_event")
"""Tables that tell of revisions which a quiet run does not have to the end, and of wishes refused at first."""


def submit(source: int, paragraphs: int, version: int) -> tuple[str, Any]:
    return "submit", (("text", body(source, paragraphs, version)),)


@st.composite
def several_revisions(draw: st.DrawFn) -> list[Wanted]:
    """Sources that are submitted, refreshed, retitled and removed."""
    history = []
    titles = st.sampled_from(("Lion", "Zebra")).map(lambda title: ("change", (("title", title),)))
    for number in range(1, draw(st.integers(1, 7)) + 1):
        source = draw(st.integers(0, 2))
        submits = st.builds(submit, st.just(source), SIZES, st.integers(0, 3))
        kind, fields = draw(st.one_of(submits, submits, REFRESHES, REMOVALS, titles))
        history.append(Wanted(number, kind, source, fields))
    return history


def one_revision_each(sizes: list[int]) -> list[Wanted]:
    return [Wanted(number, *_turned(submit(number, size, 0), number)) for number, size in enumerate(sizes, 1)]


def _turned(wish: tuple[str, Any], source: int) -> tuple[Any, int, Any]:
    return wish[0], source, wish[1]


def quiet_run(bench: Bench, history: list[Wanted]) -> UUID:
    run = Run(bench, history)
    bench.run(run.end())
    return run.organization


def disturbed_run(bench: Bench, history: list[Wanted], steps: list[tuple[str, int]]) -> UUID:
    run = Run(bench, history)

    async def go() -> None:
        for action, choice in steps:
            await run.step(action, choice)
        await run.end()

    bench.run(go())
    return run.organization


def of_events(rows: list[str]) -> list[tuple[Any, ...]]:
    """Whether the revision was the same as the one before is told too, and depends on what came between."""
    events = [json.loads(row) for row in rows]
    return [(e["source_id"], e["revision"], e["type"], e["data"].get("chunk_count")) for e in events]


@given(history=several_revisions(), steps=STEPS)
@settings(max_examples=60, deadline=None)
def test_whatever_happens_on_the_way_the_tables_end_the_same(
    bench: Bench, history: list[Wanted], steps: list[tuple[str, int]]
) -> None:
    organization = disturbed_run(bench, history, steps)
    found = dump(bench.tables.dsn, organization)
    quiet = dump(bench.tables.dsn, quiet_run(bench, history))
    assert {name: rows for name, rows in found.items() if name not in HISTORIES} == {
        name: rows for name, rows in quiet.items() if name not in HISTORIES
    }
    told, told_in_quiet = (of_events(tables["source_event"]) for tables in (found, quiet))
    assert len(set(told)) == len(told)
    assert set(told_in_quiet) <= set(told)


@given(sizes=st.lists(SIZES, min_size=1, max_size=4), steps=STEPS)
@settings(max_examples=40, deadline=None)
def test_one_revision_is_told_and_metered_once_whatever_happens(
    bench: Bench, sizes: list[int], steps: list[tuple[str, int]]
) -> None:
    history = one_revision_each(sizes)
    organization = disturbed_run(bench, history, steps)
    found, quiet = (dump(bench.tables.dsn, of) for of in (organization, quiet_run(bench, history)))
    assert found == quiet
    words = sum(
        len(paragraph.split())
        for wish in history
        for batch in _batches(dict(wish.fields)["text"].split("\n\n"))
        for paragraph in set(batch)
    )
    query = "select sum(tokens) from embedding_usage where organization_id = %s"
    assert bench.tables.row(query, organization) == (words,)


def _batches(paragraphs: list[str]) -> list[list[str]]:
    return [paragraphs[at : at + 24] for at in range(0, len(paragraphs), 24)]
