"""Runs of the pipeline whose deliveries go wrong in every way that may happen, and what must hold meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any
from uuid import UUID

from hypothesis import strategies as st

from services.chassis.errors import DependencyDown, EventRefused
from tests.support.bench import Bench
from tests.support.transport import Message
from tests.support.wishes import Wanted

_BODY = "select id, revision, body_key from knowledge_source where organization_id = %s and body_key is not null"
_LIVE = """
select s.id, s.live_revision, s.status, s.deleted_at is not null,
       (select array_agg(c.text order by p.ordinal) from chunk c
        join chunk_place p on (p.source_id, p.chunk_id) = (c.source_id, c.id) where c.source_id = s.id),
       (select count(*) from revision_batch r where r.source_id = s.id)
from knowledge_source s where s.organization_id = %(organization)s"""
_ALONE = """
select count(*) from (select source_id, id as chunk_id from chunk where organization_id = %(organization)s) c
full join (select * from chunk_place where organization_id = %(organization)s) p using (source_id, chunk_id)
full join (select * from chunk_words where organization_id = %(organization)s) w using (source_id, chunk_id)
full join (select * from chunk_vector_1 where organization_id = %(organization)s) v using (source_id, chunk_id)
where num_nulls(c, p, w, v) > 0"""

ACTIONS = {
    "wish": 4,
    "work": 4,
    "dispatch": 2,
    "deliver": 4,
    "many": 3,
    "break": 2,
    "again": 4,
    "rewish": 1,
    "lose": 1,
    "lapse": 2,
}
"""What happens, and how often."""
STEPS = st.lists(
    st.tuples(st.sampled_from([name for name, weight in ACTIONS.items() for _ in range(weight)]), st.integers(0, 30)),
    min_size=15,
    max_size=60,
)


def body(source: int, paragraphs: int, version: int) -> str:
    """A text whose versions have most of their paragraphs in common. One paragraph stands in it twice."""
    lines = [f"source {source} part {at} {version if at % 7 == version else ''}".strip() for at in range(paragraphs)]
    return "\n\n".join([*lines, lines[0]])


class Run:
    """One organization's wishes, on their way through the stages."""

    def __init__(self, bench: Bench, history: Sequence[Wanted]) -> None:
        self._rooms, self._tables, self._publisher = bench.rooms, bench.tables, bench.rooms.publisher
        self.organization: UUID = bench.organization()
        self._wishes = [wish.event(self.organization, "revisions") for wish in history]
        self._taken: list[Any] = []
        self._paragraphs = {
            sha256(text.encode()).hexdigest(): text.split("\n\n")
            for text in (dict(wish.fields).get("text") for wish in history)
            if text is not None
        }
        self._bodies: dict[tuple[UUID, int], list[str]] = {}

    async def step(self, action: str, choice: int) -> None:
        """Do it, if there is anything to do it with; then see whether all is well."""
        do: Callable[[int], Any] = getattr(self, f"_{action}")
        await do(choice)
        self.check()

    async def _wish(self, _: int) -> None:
        if self._wishes:
            self._taken.append(self._wishes.pop(0))
            await self._rewish(0)

    async def _rewish(self, choice: int) -> None:
        if self._taken:
            with contextlib.suppress(EventRefused):  # a change of what was removed
                await self._rooms.handle(self._taken[-1 - choice % len(self._taken)])

    async def _dispatch(self, _: int) -> None:
        await self._rooms.dispatcher.turn()

    async def _work(self, choice: int) -> None:
        """A while without trouble: often a revision comes to its end."""
        await self._dispatch(0)
        for _ in range(choice):
            await self._many(0)

    async def _deliver(self, choice: int) -> None:
        if heads := self._publisher.heads():
            await self._rooms.deliver(self._publisher.take(heads[choice % len(heads)]).event)

    async def _many(self, _: int) -> None:
        taken = [self._publisher.take(head) for head in self._publisher.heads()]
        await asyncio.gather(*(self._rooms.deliver(message.event) for message in taken))

    async def _break(self, choice: int) -> None:
        """The broker goes away in the middle: the message is not committed and comes again."""
        if not (heads := self._publisher.heads()):
            return
        message: Message = heads[choice % len(heads)]
        self._publisher.breaks_after = choice % 2
        try:
            await self._rooms.deliver(message.event)
        except DependencyDown:
            pass
        else:
            self._publisher.take(message)
        finally:
            self._publisher.breaks_after = None

    async def _again(self, choice: int) -> None:
        if delivered := self._publisher.delivered:
            await self._rooms.deliver(delivered[-1 - choice % len(delivered)].event)

    async def _lose(self, choice: int) -> None:
        """All that waits, or one message."""
        lost = list(self._publisher.waiting)
        for message in lost if choice % 3 == 0 else lost[choice % max(len(lost), 1) :][:1]:
            self._publisher.waiting.remove(message)

    async def _lapse(self, _: int) -> None:
        query = "update knowledge_source set due_at = now() where organization_id = %s and status = 'ingesting'"
        self._tables.rows(query, self.organization)
        query = "update knowledge_source set updated_at = now() - interval '1 day' where organization_id = %s"
        self._tables.rows(query, self.organization)
        await self._rooms.dispatcher.ask_again_for_titles()

    async def end(self) -> None:
        """Take what is left of the wishes, then let leases run out until all work is done."""
        while self._wishes:
            await self._wish(0)
        for _ in range(3):
            await self._rooms.settle()
            await self._lapse(0)
        self.check()

    def check(self) -> None:
        """Searches see exactly one revision of a source, and nothing of one that is gone."""
        for source, revision, key in self._tables.rows(_BODY, self.organization):
            self._bodies[source, revision] = self._paragraphs[key.rpartition("/")[2]]
        parameters = {"organization": self.organization}
        for source, live, status, is_deleted, texts, staged in self._tables.named(_LIVE, parameters):
            if live is not None and not is_deleted:
                assert texts == self._bodies[source, live], (source, live, texts)
            if status == "deleted":
                assert (texts, staged, live) == (None, 0, None)
        assert self._tables.named(_ALONE, parameters) == [(0,)]
