"""Who sees which source: search, list and show agree."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from uuid import UUID, uuid4

import pytest

from services.query.access import Role
from tests.integration.query.rows import Rows
from tests.integration.query.service import Service

OWNER = uuid4()
STAFF = {"staff", "admin"}


@dataclass(frozen=True)
class World:
    """Sources by what is special about them."""

    organization: UUID
    outsiders: UUID
    operators: UUID
    bases: dict[str, UUID]
    sources: dict[str, UUID]


@pytest.fixture(scope="module")
def world(rows: Rows, public_organization: UUID) -> World:
    organization, outsiders = rows.organization(), rows.organization()
    operators = public_organization
    rows.execute("insert into organization (id, slug, name) values (%s, 'operators', 'Operators')", operators)
    bases = {
        "account": rows.base(organization),
        "user": rows.base(organization, "user", OWNER),
        "public": rows.base(operators, "public"),
        "operators": rows.base(operators),
    }
    numbers = count(1)  # two that say the same would be one hit

    def add(base: str, **columns: object) -> UUID:
        of = operators if base in {"public", "operators"} else organization
        return rows.source(of, bases[base], [f"all about refunds {next(numbers)}"], **columns)

    sources = {
        "account": add("account"),
        "account unpublished": add("account", is_public=False),
        "user": add("user"),
        "user unpublished": add("user", is_public=False),
        "public": add("public"),
        "public unpublished": add("public", is_public=False),
        "operators": add("operators"),
        "archived": add("account", archived_at="2024-01-01"),
        "deleted": add("account", deleted_at="2024-01-01"),
        "not live": add("account", live_revision=None, status="failed", error_code="NO_TEXT"),
        "refreshing": add("account", status="ingesting", stage="fetching"),
    }
    return World(organization, outsiders, operators, bases, sources)


def expected(world: World, organization: UUID, role: Role, profile: UUID | None) -> set[str]:
    """The sources that searches of this principal find."""
    found = {"public"}
    if organization == world.organization:
        found |= {"account", "refreshing"}
        found |= {"account unpublished"} if role in STAFF else set()
        found |= {"user"} if profile == OWNER else set()
        found |= {"user unpublished"} if profile == OWNER and role in STAFF else set()
    if organization == world.operators:
        found |= {"operators"}
        found |= {"public unpublished"} if role in STAFF else set()
    return found


@pytest.mark.parametrize("profile", [None, OWNER, uuid4()], ids=["nobody", "owner", "somebody"])
@pytest.mark.parametrize("role", ["agent", "member", "staff", "admin"])
@pytest.mark.parametrize("where", ["organization", "outsiders", "operators"])
async def test_the_table(service: Service, world: World, where: str, role: Role, profile: UUID | None) -> None:
    organization: UUID = getattr(world, where)
    headers = await service.key(organization, role, profile)
    asked = {"query": "refunds", "k": 15}
    hits = (await service.client.post("/v1/search", json=asked, headers=headers)).json()["hits"]
    names = {source: name for name, source in world.sources.items()}
    found = {names[UUID(hit["source_id"])] for hit in hits}
    assert found == expected(world, organization, role, profile)

    shown = {
        name
        for name, source in world.sources.items()
        if (await service.client.get(f"/v1/sources/{source}", headers=headers)).status_code == 200
    }
    in_any_state = {"archived", "not live"} if organization == world.organization else set()
    assert shown == found | in_any_state

    listed = set()
    for base in world.bases.values():
        answer = await service.client.get(f"/v1/knowledge-bases/{base}/sources", headers=headers)
        listed |= {names[UUID(source["id"])] for source in answer.json().get("items", ())}
    assert listed == shown


async def test_filters_never_widen(service: Service, world: World) -> None:
    headers = await service.key(world.organization, "member")
    everything = {
        "source_ids": [str(source) for source in world.sources.values()],
        "knowledge_base_ids": [str(base) for base in world.bases.values()],
    }
    hits = (await service.client.post("/v1/search", json={"query": "refunds", **everything}, headers=headers)).json()
    found = {hit["source_id"] for hit in hits["hits"]}
    assert found == {str(world.sources[name]) for name in ("account", "refreshing", "public")}


async def test_public_only_leaves_out_what_staff_alone_sees(service: Service, world: World) -> None:
    headers = await service.key(world.organization, "staff")
    asked = {"query": "refunds", "k": 15, "public_only": True}
    hits = (await service.client.post("/v1/search", json=asked, headers=headers)).json()["hits"]
    assert str(world.sources["account unpublished"]) not in {hit["source_id"] for hit in hits}


async def test_the_next_search_obeys(service: Service, rows: Rows, world: World) -> None:
    source = rows.source(world.organization, world.bases["account"], ["quokka habitats"])
    headers = await service.key(world.organization)
    rows_before = rows.execute("select xmin::text from chunk_words where source_id = %s", source)

    async def count() -> int:
        asked = {"query": "quokka", "source_ids": [str(source)]}
        return len((await service.client.post("/v1/search", json=asked, headers=headers)).json()["hits"])

    assert await count() == 1
    for column, hidden, back in (
        ("archived_at", "2024-01-01", None),
        ("is_public", False, True),
        ("knowledge_base_id", world.bases["user"], world.bases["account"]),
    ):
        for value, expected_count in ((hidden, 0), (back, 1)):
            rows.execute(f"update knowledge_source set {column} = %s where id = %s", value, source)
            assert await count() == expected_count
    assert rows.execute("select xmin::text from chunk_words where source_id = %s", source) == rows_before
