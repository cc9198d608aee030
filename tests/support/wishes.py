"""Wishes about a few sources, as Hypothesis makes them up, and what should come of them."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal
from uuid import UUID

from hypothesis import strategies as st

from schemas.events import SourceMetadataChanged, SourceRefreshRequested, SourceRemoved, SourceSubmitted, Wish
from schemas.identifiers import blob_key
from services.chassis.delivery import Received
from tests.support.transport import received

Kind = Literal["submit", "refresh", "change", "remove"]
Clock = Literal["revisions", "times"]


@dataclass(frozen=True)
class Wanted:
    """One wish. Its place in the publisher's order is `number`."""

    number: int
    kind: Kind
    source: int
    fields: tuple[tuple[str, Any], ...] = ()

    def event(self, organization: UUID, clock: Clock) -> Received[Any]:
        """The event: ordered by a count, with times that say nothing, or by its time alone."""
        common: dict[str, Any] = {"organization_id": organization, "external_id": f"source {self.source}"}
        if clock == "revisions":
            common["revision"] = self.number
        time = self.number if clock == "times" else self.number * 7 % 5
        return received(self._wish(common | dict(self.fields)), id=f"wish {self.number}", time=time)

    def _wish(self, given: dict[str, Any]) -> Wish:
        match self.kind:
            case "submit":
                return SourceSubmitted(kind="text", **given)
            case "refresh":
                return SourceRefreshRequested(**given)
            case "change":
                return SourceMetadataChanged(**given)
            case _:
                return SourceRemoved(**given)


_TITLES = st.sampled_from(("A", "B", "C"))
_FIELDS = {
    "title": _TITLES,
    "description": st.sampled_from(("x", "y")),
    "metadata": st.sampled_from(({"k": 1}, {"k": 2})),
    "is_public": st.booleans(),
}


def _items(fields: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(fields.items()))


def submits(text: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[Kind, Any]]:
    """A submitted text with all its fields."""
    return st.tuples(st.just("submit"), st.fixed_dictionaries({"text": text, **_FIELDS}).map(_items))


REFRESHES: st.SearchStrategy[Any] = st.just(("refresh", ()))
REMOVALS: st.SearchStrategy[Any] = st.just(("remove", ()))
WHOLE_CHANGES: st.SearchStrategy[Any] = st.tuples(st.just("change"), st.fixed_dictionaries(_FIELDS).map(_items))
CHANGES: st.SearchStrategy[Any] = st.tuples(
    st.just("change"),
    st.fixed_dictionaries({}, optional={**_FIELDS, "archived": st.booleans()}).map(_items),
)
TEXTS = st.sampled_from(("one", "two", "three"))


@st.composite
def histories(
    draw: st.DrawFn, changes: st.SearchStrategy[Any] = CHANGES, sources: int = 2, most: int = 8
) -> list[Wanted]:
    """Wishes in the publisher's order."""
    kinds = st.one_of(submits(TEXTS), submits(TEXTS), REFRESHES, changes, REMOVALS)
    steps = draw(st.lists(st.tuples(kinds, st.integers(0, sources - 1)), min_size=1, max_size=most))
    return [Wanted(number, kind, source, fields) for number, ((kind, fields), source) in enumerate(steps, 1)]


def outcome(history: list[Wanted], organization: UUID) -> dict[str, dict[str, Any]]:
    """What the ledger holds when the wishes come in order, and those that came before their source come again.

    A document that is submitted says all of its fields but whether it is archived: that stays until it is removed.
    """
    found: dict[str, dict[str, Any]] = {}
    archived: dict[str, bool] = {}
    for wish in history:
        name, fields = f"source {wish.source}", dict(wish.fields)
        archived[name] = fields.pop("archived", archived.get(name, False)) and wish.kind != "remove"
        if wish.kind == "submit":
            key = blob_key(organization, sha256(fields.pop("text").encode()).hexdigest())
            found[name] = {"deleted": False, "body_key": key, **fields}
        elif wish.kind == "change" and not found.get(name, {"deleted": True})["deleted"]:
            found[name].update(fields)
        elif wish.kind == "remove":
            found[name] = {"deleted": True}
    return {name: row if row["deleted"] else row | {"archived": archived[name]} for name, row in found.items()}


_COLUMNS = ("external_id", "deleted_at", "archived_at", "body_key", "title", "description", "metadata", "is_public")
LEDGER = f"select {', '.join(_COLUMNS)} from knowledge_source where organization_id = %s"


def held(rows: list[tuple[Any, ...]]) -> dict[str, dict[str, Any]]:
    """The rows of LEDGER in the form of `outcome`."""
    found = {}
    for values in rows:
        row = dict(zip(_COLUMNS, values, strict=True))
        row["deleted"] = row.pop("deleted_at") is not None
        row["archived"] = row.pop("archived_at") is not None
        name = row.pop("external_id")
        found[name] = {"deleted": True} if row["deleted"] else row
    return found
