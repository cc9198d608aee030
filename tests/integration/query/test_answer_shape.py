"""Twins, neighbours, the budget of texts and metadata, over HTTP."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from services.encoder.tokens import count_tokens
from services.query.settings import AccessSettings
from tests.integration.query.rows import Rows, WordEncoder
from tests.integration.query.service import Service, running

PARAGRAPH = "Refunds are paid back within fourteen days to the card that was charged, without a fee. " * 4


@pytest.fixture
def organization(rows: Rows) -> UUID:
    return rows.organization()


async def search(service: Service, headers: dict[str, str], **fields: Any) -> dict[str, Any]:
    content = json.dumps({"query": "when are refunds paid", **fields})
    headers = {**headers, "content-type": "application/json"}
    answer = await service.client.post("/v1/search", content=content, headers=headers)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_twins_take_one_place_and_are_named(service: Service, rows: Rows, organization: UUID) -> None:
    base = rows.base(organization)
    first, second = (
        rows.source(organization, base, [text], title=title, kind="url", url=f"https://x.test/{title}")
        for title, text in (("a", PARAGRAPH), ("b", PARAGRAPH.upper()))
    )
    rows.source(organization, base, ["Refunds for events are another matter."])
    found = await search(service, await service.key(organization), k=2)
    assert len(found["hits"]) == 2, "the twin makes room for the next one"
    best, other = found["hits"]
    assert {best["source_id"], best["also_in"][0]["source_id"]} == {str(first), str(second)}
    twin = best["also_in"][0]
    assert twin["url"] == f"https://x.test/{twin['title']}"
    assert (len(best["also_in"]), other["also_in"]) == (1, [])


async def test_many_twins_hide_nothing(service: Service, rows: Rows, organization: UUID) -> None:
    base = rows.base(organization)
    rows.source(organization, base, [PARAGRAPH] * 40)
    others = ["Refunds for events are another matter.", "The garage opens at seven."]
    rows.source(organization, base, others)
    found = await search(service, await service.key(organization), k=3)
    assert [hit["text"] for hit in found["hits"]] == [PARAGRAPH, *others]
    assert len(found["hits"][0]["also_in"]) == 39


async def test_a_twin_that_the_caller_may_not_see_is_not_named(
    service: Service, rows: Rows, organization: UUID
) -> None:
    base = rows.base(organization)
    rows.source(organization, base, [PARAGRAPH])
    hidden = rows.source(organization, base, [PARAGRAPH], is_public=False)
    own = rows.source(organization, rows.base(organization, "user", UUID(int=7)), [PARAGRAPH])
    foreign = rows.organization()
    theirs = rows.source(foreign, rows.base(foreign), [PARAGRAPH])
    for role, twins in (("agent", set()), ("staff", {str(hidden)})):
        found = await search(service, await service.key(organization, role))  # type: ignore[arg-type]
        [hit] = found["hits"]
        named = {hit["source_id"], *(twin["source_id"] for twin in hit["also_in"])}
        assert named & {str(hidden), str(own), str(theirs)} == twins


async def test_neighbours_stand_beside_their_chunk(service: Service, rows: Rows, organization: UUID) -> None:
    texts = ["The parking garage opens at seven.", PARAGRAPH, "Invoices are on the billing page."]
    source = rows.source(organization, rows.base(organization), texts)
    rows.source(organization, rows.base(organization), ["Somewhere else."])
    headers = await service.key(organization)
    hit = (await search(service, headers, k=1, neighbours=True))["hits"][0]
    assert hit["neighbours"]["before"]["text"] == texts[0]
    assert [hit["neighbours"][side]["ordinal"] for side in ("before", "after")] == [0, 2]
    assert hit["neighbours"]["after"]["text"] == texts[2]
    stored = rows.execute("select chunk_id from chunk_place where source_id = %s order by ordinal", source)
    assert [hit["neighbours"]["before"]["chunk_id"], hit["chunk_id"]] == [str(id_) for (id_,) in stored[:2]]
    assert (await search(service, headers, k=1))["hits"][0]["neighbours"] is None


async def test_at_the_ends_of_a_source_there_is_nobody(service: Service, rows: Rows, organization: UUID) -> None:
    rows.source(organization, rows.base(organization), [PARAGRAPH])
    [hit] = (await search(service, await service.key(organization), neighbours=True))["hits"]
    assert hit["neighbours"] == {"before": None, "after": None}


async def test_guests_see_neighbours_in_public_knowledge_bases(dsn: str, rows: Rows, organization: UUID) -> None:
    operators = rows.organization()
    rows.source(operators, rows.base(operators, "public"), [PARAGRAPH, "The next one."])
    access = AccessSettings(public_organization=operators)
    async with running(dsn, access=access, encoder=WordEncoder()) as service:
        [hit, _] = (await search(service, await service.key(organization), neighbours=True))["hits"]
    assert hit["neighbours"]["after"]["text"] == "The next one."


async def test_texts_keep_to_the_budget(service: Service, rows: Rows, organization: UUID) -> None:
    texts = [f"Refunds number {number}. {PARAGRAPH} Part {number} of {'many ' * number}." for number in range(9)]
    rows.source(organization, rows.base(organization), texts)
    headers = await service.key(organization)
    whole = await search(service, headers, k=5)
    assert whole["truncated"] is False
    for budget in (50, 200, 20_000):
        found = await search(service, headers, k=5, text_budget=budget, neighbours=True)
        hits = found["hits"]
        shown = [each for hit in hits for each in (hit, *filter(None, hit["neighbours"].values()))]
        assert sum(count_tokens(each["text"]) for each in shown) <= budget
        assert found["truncated"] == any(each["truncated"] for each in shown) == (budget < 20_000)
        assert [hit["chunk_id"] for hit in hits] == [hit["chunk_id"] for hit in whole["hits"]]
        for hit, full in zip(hits, whole["hits"], strict=True):
            assert full["text"].startswith(hit["text"])
            assert hit["truncated"] == (hit["text"] != full["text"])
        assert hits[0]["text"]


async def test_metadata_narrows(service: Service, rows: Rows, organization: UUID) -> None:
    base = rows.base(organization)
    seventh, eighth = (
        rows.source(organization, base, [f"Refunds in grade {grade}."],
                    metadata=Jsonb({"grade": grade, "tags": {"a": 1}, "draft": False, "half": 0.5}))
        for grade in (7, 8)
    )  # fmt: skip
    headers = await service.key(organization)

    async def found(metadata: dict[str, Any]) -> set[str]:
        return {hit["source_id"] for hit in (await search(service, headers, metadata=metadata))["hits"]}

    assert await found({}) == {str(seventh), str(eighth)}
    assert await found({"grade": 7}) == {str(seventh)}
    assert await found({"grade": 8, "draft": False, "half": 0.5}) == {str(eighth)}
    for nothing in ({"grade": "7"}, {"grade": 7, "draft": True}, {"none": 1}, {"tags": "a\0\ud800"}, {"a\0": "'; --"}):
        assert await found(nothing) == set()


@pytest.mark.parametrize(
    "fields",
    [
        {"text_budget": 49},
        {"text_budget": 20_001},
        {"metadata": {str(number): 1 for number in range(9)}},
        {"metadata": {"a": [1]}},
        {"metadata": {"a": None}},
        {"metadata": {"a": "x" * 1001}},
        {"message_id": "x" * 201},
    ],
)
async def test_bounds_of_a_request(service: Service, organization: UUID, fields: dict[str, Any]) -> None:
    asked = {"query": "refunds", **fields}
    answer = await service.client.post("/v1/search", json=asked, headers=await service.key(organization))
    assert (answer.status_code, answer.json()["code"]) == (422, "REQUEST_INVALID")


async def test_a_number_that_is_none_is_refused(service: Service, organization: UUID) -> None:
    headers = {**await service.key(organization), "content-type": "application/json"}
    body = '{"query": "refunds", "metadata": {"a": NaN}}'
    answer = await service.client.post("/v1/search", content=body, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (422, "REQUEST_INVALID")
