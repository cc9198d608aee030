"""No route tells an organization anything about another one's things."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.integration.query.rows import Rows
from tests.integration.query.service import Service


@dataclass(frozen=True)
class Tenant:
    """An organization with one of everything."""

    id: UUID
    base: UUID
    source: UUID


@pytest.fixture(scope="module")
def tenants(rows: Rows) -> tuple[Tenant, Tenant]:
    made = []
    for name in ("mine", "theirs"):
        organization = rows.organization()
        base = rows.base(organization)
        source = rows.source(organization, base, [f"{name} is about refunds"], kind="url", url=f"https://x.test/{name}")
        rows.execute(
            "insert into source_event (organization_id, id, source_id, revision, type, data) "
            "values (%s, gen_random_uuid(), %s, 1, 'kb.source.indexed.v1', '{}')", organization, source,
        )  # fmt: skip
        rows.execute(
            "insert into embedding_usage values (%s, %s, 1, 'test/words@64', 0, 'x', '1/default', 1, 0, 10, 2, now())",
            organization, source,
        )  # fmt: skip
        made.append(Tenant(organization, base, source))
    return made[0], made[1]


PATHS = [
    ("GET", "/v1/knowledge-bases/{base}/sources", None),
    ("POST", "/v1/knowledge-bases/{base}/sources", {"kind": "url", "url": "https://x.test/new"}),
    ("GET", "/v1/sources/{source}", None),
    ("PATCH", "/v1/sources/{source}", {"title": "Changed"}),
    ("DELETE", "/v1/sources/{source}", None),
    ("POST", "/v1/sources/{source}/refresh", None),
    ("POST", "/v1/sources/{source}/publish", None),
    ("POST", "/v1/sources/{source}/archive", None),
    ("GET", "/v1/sources/{source}/chunks", None),
    ("GET", "/v1/sources/{source}/events", None),
    ("GET", "/v1/organizations/{organization}", None),
    ("DELETE", "/v1/api-keys/{key}", None),
]


@pytest.mark.parametrize("whose", ["theirs", "nobody's"])
@pytest.mark.parametrize(("method", "path", "body"), PATHS)
async def test_foreign_ids_are_unknown_ids(
    service: Service, tenants: tuple[Tenant, Tenant], method: str, path: str, body: object, whose: str
) -> None:
    mine, theirs = tenants
    other = theirs if whose == "theirs" else Tenant(uuid4(), uuid4(), uuid4())
    key = (await service.keys.make(theirs.id, "theirs", "agent", None))["id"] if whose == "theirs" else uuid4()
    address = path.format(base=other.base, source=other.source, organization=other.id, key=key)
    answer = await service.client.request(method, address, json=body, headers=await service.key(mine.id, "admin"))
    assert (answer.status_code, answer.json()["code"]) == (404, "NOT_FOUND")
    assert answer.headers["content-type"] == "application/problem+json"
    assert service.publisher.published == []


async def test_every_path_with_an_id_is_tried(service: Service) -> None:
    described = (await service.client.get("/openapi.json")).json()["paths"]
    with_id = {(method.upper(), path) for path, found in described.items() for method in found if "{" in path}
    assert len(with_id) == len(PATHS)


async def test_lists_hold_ones_own(service: Service, tenants: tuple[Tenant, Tenant]) -> None:
    mine, theirs = tenants
    headers = await service.key(mine.id, "admin")
    for path in ("knowledge-bases", "api-keys", "usage", f"sources/{mine.source}/events", f"sources/{mine.source}"):
        answer = await service.client.get(f"/v1/{path}", headers=headers)
        assert answer.status_code == 200
        for foreign in (theirs.id, theirs.base, theirs.source):
            assert str(foreign) not in answer.text
    usage = (await service.client.get("/v1/usage", headers=headers)).json()["items"]
    assert [(day["tokens"], day["space"]) for day in usage] == [(10, "test/words@64")]


async def test_searches_hold_ones_own(service: Service, tenants: tuple[Tenant, Tenant]) -> None:
    mine, theirs = tenants
    headers = await service.key(mine.id, "admin")
    for filters in ({}, {"source_ids": [str(theirs.source)]}, {"knowledge_base_ids": [str(theirs.base)]}):
        answer = await service.client.post("/v1/search", json={"query": "theirs refunds", **filters}, headers=headers)
        assert [hit["source_id"] for hit in answer.json()["hits"]] == ([] if filters else [str(mine.source)])


async def test_a_key_is_needed(service: Service, tenants: tuple[Tenant, Tenant]) -> None:
    good = (await service.key(tenants[0].id))["authorization"]
    for header in (None, "", "Bearer", "Bearer x", f"Basic {good}", good[:-1], f"{good}x", "Bearer kb_" + "a" * 43):
        headers = {} if header is None else {"authorization": header}
        answer = await service.client.post("/v1/search", json={"query": "refunds"}, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "UNAUTHENTICATED")
        assert answer.headers["www-authenticate"] == "Bearer"
        # The header that an open service reads opens nothing here.
        named = {**headers, "x-organization": str(tenants[0].id)}
        assert (await service.client.get("/v1/knowledge-bases", headers=named)).status_code == 401


def test_the_role_sees_nothing_without_an_organization(dsn: str) -> None:
    with psycopg.connect(dsn) as connection:
        connection.execute("set role kb_query")
        connection.commit()
        for table in ("knowledge_source", "chunk", "chunk_words", "chunk_vector_1", "api_key", "organization"):
            with pytest.raises(psycopg.errors.UndefinedObject), connection.transaction():
                connection.execute(f"select 1 from {table}")
