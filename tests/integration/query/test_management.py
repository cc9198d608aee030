"""Knowledge bases, keys, pages, the organization."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.integration.query.rows import Rows
from tests.integration.query.service import Service


@pytest.fixture
def organization(rows: Rows) -> UUID:
    return rows.organization()


async def pages(service: Service, path: str, headers: dict[str, str]) -> list[list[dict[str, Any]]]:
    """All pages of a list."""
    found, cursor = [], ""
    while True:
        answer = (await service.client.get(f"{path}&cursor={cursor}" if cursor else path, headers=headers)).json()
        found.append(answer["items"])
        cursor = answer["next_cursor"]
        if not cursor:
            return found


async def test_sources_come_in_pages_without_texts(service: Service, rows: Rows, organization: UUID) -> None:
    base = rows.base(organization)
    sources = [rows.source(organization, base, ["some text"]) for _ in range(7)]
    headers = await service.key(organization)
    found = await pages(service, f"/v1/knowledge-bases/{base}/sources?limit=3", headers)
    assert [len(page) for page in found] == [3, 3, 1]
    assert [source["id"] for page in found for source in page] == sorted(map(str, sources))
    assert "some text" not in str(found)
    assert "body_key" not in found[0][0]
    failed = rows.source(organization, base, [], status="failed", live_revision=None)
    found = await pages(service, f"/v1/knowledge-bases/{base}/sources?limit=3&status=failed", headers)
    assert [source["id"] for page in found for source in page] == [str(failed)]


async def test_chunks_come_in_the_order_of_the_document(service: Service, rows: Rows, organization: UUID) -> None:
    texts = [f"text {number}" for number in range(5)]
    source = rows.source(organization, rows.base(organization), texts)
    headers = await service.key(organization)
    found = await pages(service, f"/v1/sources/{source}/chunks?limit=2", headers)
    assert [[chunk["text"] for chunk in page] for page in found] == [texts[:2], texts[2:4], texts[4:]]
    assert len(found[0][0]["content_hash"]) == 64


async def test_events_come_in_pages(service: Service, rows: Rows, organization: UUID) -> None:
    source = rows.source(organization, rows.base(organization), [])
    for revision in range(5):
        rows.execute(
            "insert into source_event (organization_id, id, source_id, revision, type, data, occurred_at) "
            "values (%s, gen_random_uuid(), %s, %s, 'kb.source.indexed.v1', '{}', '2024-01-01')",
            organization, source, revision,
        )  # fmt: skip
    headers = await service.key(organization)
    found = await pages(service, f"/v1/sources/{source}/events?limit=2", headers)
    assert [len(page) for page in found] == [2, 2, 1]
    assert {event["revision"] for page in found for event in page} == set(range(5))


@pytest.mark.parametrize("cursor", ["x", "!!!", "AAAA", "%00", "é", "a" * 201])
async def test_cursors_that_were_not_given_out(service: Service, rows: Rows, organization: UUID, cursor: str) -> None:
    base = rows.base(organization)
    source = rows.source(organization, base, [])
    headers = await service.key(organization, "admin")
    for path in (f"knowledge-bases/{base}/sources", f"sources/{source}/chunks", f"sources/{source}/events", "api-keys"):
        answer = await service.client.get(f"/v1/{path}?cursor={cursor}", headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (422, "REQUEST_INVALID")


async def test_knowledge_bases_are_made_by_administrators(service: Service, organization: UUID) -> None:
    profile = uuid4()
    headers = await service.key(organization, "admin", profile)
    new = {"name": "Notes", "scope": "user", "time_to_live_seconds": 86400}
    answer = await service.client.post("/v1/knowledge-bases", json=new, headers=headers)
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert (made["owner_profile_id"], made["time_to_live_seconds"]) == (str(profile), 86400)
    bases = (await service.client.get("/v1/knowledge-bases", headers=headers)).json()["items"]
    assert {base["name"] for base in bases} == {"Notes", "Default"}
    for wrong, status in (({"name": "x", "scope": "public"}, 403), ({"name": "", "scope": "account"}, 422)):
        assert (await service.client.post("/v1/knowledge-bases", json=wrong, headers=headers)).status_code == status
    nobody = await service.key(organization, "admin")
    answer = await service.client.post("/v1/knowledge-bases", json=new, headers=nobody)
    assert (answer.status_code, answer.json()["code"]) == (422, "REQUEST_INVALID")


async def test_a_base_is_made_once_for_a_key_of_repetition(service: Service, organization: UUID) -> None:
    headers = {**await service.key(organization, "admin"), "idempotency-key": "make"}
    made = [
        (await service.client.post("/v1/knowledge-bases", json={"name": "Once"}, headers=headers)).json()
        for _ in range(2)
    ]
    assert made[0] == made[1]


async def test_public_bases_are_listed_for_everyone(
    service: Service, rows: Rows, organization: UUID, public_organization: UUID
) -> None:
    rows.execute(
        "insert into organization (id, slug, name) values (%s, 'operators', 'O') on conflict do nothing",
        public_organization,
    )
    public = rows.base(public_organization, "public")
    rows.base(public_organization)
    own = rows.base(organization)
    bases = (await service.client.get("/v1/knowledge-bases", headers=await service.key(organization))).json()["items"]
    assert [base["id"] for base in bases] == [str(own), str(public)]
    # Read, not written.
    headers = await service.key(organization, "admin")
    path = f"/v1/knowledge-bases/{public}/sources"
    answer = await service.client.post(path, json={"kind": "text", "text": "x"}, headers=headers)
    assert answer.status_code == 404


async def test_keys(service: Service, organization: UUID) -> None:
    headers = await service.key(organization, "admin")
    made = (await service.client.post("/v1/api-keys", json={"name": "bot", "role": "agent"}, headers=headers)).json()
    assert made["key"].startswith(made["prefix"])
    assert len(made["key"]) == 46
    bot = {"authorization": f"Bearer {made['key']}"}
    assert (await service.client.get("/v1/knowledge-bases", headers=bot)).status_code == 200
    listed = (await service.client.get("/v1/api-keys", headers=headers)).json()["items"]
    assert made["id"] in {key["id"] for key in listed}
    assert made["key"] not in str(listed)
    assert next(key for key in listed if key["id"] == made["id"])["last_used_at"] is not None
    assert (await service.client.delete(f"/v1/api-keys/{made['id']}", headers=headers)).status_code == 204
    assert (await service.client.get("/v1/knowledge-bases", headers=bot)).status_code == 401
    assert (await service.client.delete(f"/v1/api-keys/{made['id']}", headers=headers)).status_code == 204


async def test_the_key_is_kept_as_its_hash(service: Service, rows: Rows, organization: UUID) -> None:
    made = await service.keys.make(organization, "x", "agent", None)
    [(row,)] = rows.execute("select to_jsonb(k)::text from api_key k where id = %s", made["id"])
    assert made["key"] not in row
    assert made["key"][9:] not in row


async def test_the_organization(service: Service, organization: UUID) -> None:
    headers = await service.key(organization, "agent")
    answer = await service.client.get(f"/v1/organizations/{organization}", headers=headers)
    assert (answer.json()["id"], answer.json()["plan"]) == (str(organization), "standard")


@pytest.mark.parametrize("query", ["since=2024-13-01", "since=x", "until=99999-01-01"])
async def test_days_that_are_none(service: Service, organization: UUID, query: str) -> None:
    answer = await service.client.get(f"/v1/usage?{query}", headers=await service.key(organization))
    assert (answer.status_code, answer.json()["code"]) == (422, "REQUEST_INVALID")


async def test_days_at_the_ends_of_the_calendar(service: Service, organization: UUID) -> None:
    headers = await service.key(organization)
    for query in ("since=0001-01-01&until=9999-12-31", "until=0001-01-01", "since=2024-02-01&until=2024-01-01"):
        answer = await service.client.get(f"/v1/usage?{query}", headers=headers)
        assert (answer.status_code, answer.json()) == (200, {"items": []})
