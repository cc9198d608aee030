"""Writes go the way of events: what is published, and what the next reading finds."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any
from uuid import UUID

import pytest

from schemas.events import (
    SourceMetadataChanged,
    SourceRefreshRequested,
    SourceRemoved,
    SourceRetitled,
    SourceSubmitted,
)
from schemas.events.source import INLINE_TEXT_LIMIT
from schemas.identifiers import blob_key, default_knowledge_base_id, source_id
from services.query.settings import AccessSettings
from tests.integration.query.rows import Rows, WordEncoder
from tests.integration.query.service import Service, running


@pytest.fixture
def organization(rows: Rows) -> UUID:
    return rows.organization()


@pytest.fixture
def base(rows: Rows, organization: UUID) -> UUID:
    return rows.base(organization)


async def test_a_page(service: Service, organization: UUID, base: UUID) -> None:
    headers = await service.key(organization)
    added = {
        "kind": "url", "url": "HTTPS://X.test:443/a?utm_source=mail#part", "title": "A page", "metadata": {"team": "x"},
    }  # fmt: skip
    answer = await service.client.post(f"/v1/knowledge-bases/{base}/sources", json=added, headers=headers)
    assert answer.status_code == 202
    expected = source_id(organization, base, "url", "https://x.test/a")
    assert answer.json() == {"id": str(expected), "location": f"/v1/sources/{expected}", "taken": True}
    assert answer.headers["location"] == f"/v1/sources/{expected}"
    shown = (await service.client.get(answer.headers["location"], headers=headers)).json()
    assert shown["url"] == "https://x.test/a"
    assert (shown["status"], shown["stage"], shown["title"]) == ("pending", "queued", "A page")
    assert shown["metadata"] == {"team": "x"}
    again = await service.client.post(f"/v1/knowledge-bases/{base}/sources", json=added, headers=headers)
    assert again.json()["id"] == str(expected)


async def test_a_text(service: Service, organization: UUID, base: UUID) -> None:
    headers = await service.key(organization)
    added = {"kind": "text", "text": "Refunds take\0 long.", "media_type": "text/markdown"}
    answer = await service.client.post(f"/v1/knowledge-bases/{base}/sources", json=added, headers=headers)
    body = b"Refunds take long."
    digest = sha256(body).hexdigest()
    assert answer.json()["id"] == str(source_id(organization, base, "external", f"sha256:{digest}"))
    assert await service.blobs.get(blob_key(organization, digest)) == body
    named = {"kind": "text", "text": "Refunds", "external_id": "faq-1"}
    answer = await service.client.post(f"/v1/knowledge-bases/{base}/sources", json=named, headers=headers)
    assert answer.json()["id"] == str(source_id(organization, base, "external", "faq-1"))


@pytest.mark.parametrize("text", ["word " * 60_000, "\U0001f600" * 70_000, "\x01" * 50_000])
async def test_a_long_text_travels_by_reference(service: Service, organization: UUID, base: UUID, text: str) -> None:
    headers = await service.key(organization)
    added = {"kind": "text", "text": text, "media_type": "text/markdown"}
    answer = await service.client.post(f"/v1/knowledge-bases/{base}/sources", json=added, headers=headers)
    assert answer.status_code == 202
    [wish] = service.publisher.published
    assert isinstance(wish, SourceSubmitted)
    assert (wish.kind, wish.text) == ("file", None)
    assert wish.file is not None
    assert (wish.file.media_type, wish.file.filename) == ("text/markdown", "text.md")
    assert await service.blobs.get(wish.file.blob_key) == text.encode()
    assert len(wish.model_dump_json()) < INLINE_TEXT_LIMIT


async def test_a_file(service: Service, organization: UUID, base: UUID) -> None:
    headers = await service.key(organization)
    answer = await service.client.post(
        f"/v1/knowledge-bases/{base}/sources",
        files={"file": ("Ünter lagen.pdf", b"%PDF-1.7 ...", "application/pdf")},
        data={"title": "Papers", "metadata": json.dumps({"a": [1]}), "external_id": "file-7"},
        headers=headers,
    )
    assert answer.status_code == 202, answer.text
    shown = (await service.client.get(answer.headers["location"], headers=headers)).json()
    assert (shown["kind"], shown["filename"], shown["media_type"]) == ("file", "Ünter lagen.pdf", "application/pdf")
    assert (shown["title"], shown["metadata"], shown["source_type"]) == ("Papers", {"a": [1]}, "upload")
    digest = sha256(b"%PDF-1.7 ...").hexdigest()
    assert await service.blobs.get(blob_key(organization, digest)) == b"%PDF-1.7 ..."


@pytest.mark.parametrize(
    ("added", "code"),
    [
        ({"kind": "url", "url": "ftp://x.test/a"}, "URL_INVALID"),
        ({"kind": "url"}, "REQUEST_INVALID"),
        ({"kind": "video", "url": "https://x.test"}, "REQUEST_INVALID"),
        ({"kind": "text", "text": ""}, "REQUEST_INVALID"),
        ({"kind": "text", "text": "x", "metadata": {"a": "x" * 9000}}, "REQUEST_INVALID"),
        ({"kind": "text", "text": "x", "surprise": 1}, "REQUEST_INVALID"),
        ([], "REQUEST_INVALID"),
    ],
)
async def test_what_can_not_be_added(
    service: Service, organization: UUID, base: UUID, added: dict[str, Any], code: str
) -> None:
    headers = await service.key(organization)
    answer = await service.client.post(f"/v1/knowledge-bases/{base}/sources", json=added, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert service.publisher.published == []


@pytest.mark.parametrize(
    ("files", "data"),
    [
        ({"other": ("a", b"x")}, {}),
        ({"file": ("a", b"")}, {}),
        ({"file": ("a", b"x")}, {"metadata": "{"}),
        ({"file": ("a", b"x"), "second": ("b", b"y")}, {}),
    ],
)
async def test_forms_that_can_not_be_taken(
    service: Service, organization: UUID, base: UUID, files: Any, data: dict[str, str]
) -> None:
    headers = await service.key(organization)
    path = f"/v1/knowledge-bases/{base}/sources"
    answer = await service.client.post(path, files=files, data=data, headers=headers)
    assert answer.status_code in {400, 422}
    assert answer.json()["code"] == "REQUEST_INVALID"
    assert service.publisher.published == []


async def test_the_default_base_is_there_before_the_first_source(service: Service, organization: UUID) -> None:
    headers = await service.key(organization)
    base = default_knowledge_base_id(organization)
    added = {"kind": "url", "url": "https://x.test/first"}
    answer = await service.client.post(f"/v1/knowledge-bases/{base}/sources", json=added, headers=headers)
    assert answer.status_code == 202
    bases = (await service.client.get("/v1/knowledge-bases", headers=headers)).json()["items"]
    assert [(found["id"], found["is_default"]) for found in bases] == [(str(base), True)]


async def test_changes(service: Service, rows: Rows, organization: UUID, base: UUID) -> None:
    source = rows.source(organization, base, ["about refunds"], title="Old", is_public=False)
    path = f"/v1/sources/{source}"
    headers = await service.key(organization, "staff")

    async def shown() -> dict[str, Any]:
        found: dict[str, Any] = (await service.client.get(path, headers=headers)).json()
        return found

    answer = await service.client.patch(path, json={"title": "New", "metadata": {"a": 1}}, headers=headers)
    assert answer.status_code == 202
    assert ((await shown())["title"], (await shown())["metadata"]) == ("New", {"a": 1})
    await service.client.post(f"{path}/publish", headers=headers)
    assert (await shown())["is_public"] is True
    await service.client.post(f"{path}/archive", headers=headers)
    assert (await shown())["status"] == "archived"
    await service.client.post(f"{path}/archive", json={"archived": False}, headers=headers)
    assert (await shown())["status"] == "ready"
    await service.client.post(f"{path}/refresh", headers=headers)
    assert ((await shown())["status"], (await shown())["revision"], (await shown())["live_revision"]) == (
        "pending",
        2,
        1,
    )
    events = (await service.client.get(f"{path}/events", headers=headers)).json()["items"]
    assert [event["type"] for event in events] == ["kb.source.archived.v1", "kb.source.archived.v1"]
    await service.client.delete(path, headers=headers)
    assert (await service.client.get(path, headers=headers)).status_code == 404
    assert (await service.client.delete(path, headers=headers)).status_code == 404
    wishes = [event for event in service.publisher.published if not isinstance(event, SourceRetitled)]
    assert [type(wish) for wish in wishes] == [
        SourceMetadataChanged, SourceMetadataChanged, SourceMetadataChanged, SourceMetadataChanged,
        SourceRefreshRequested, SourceRemoved,
    ]  # fmt: skip


@pytest.mark.parametrize("columns", [{"status": "failed", "error_code": "NO_TEXT"}, {"status": "ingesting"}])
async def test_every_state_can_be_shown_and_deleted(
    service: Service, rows: Rows, organization: UUID, base: UUID, columns: dict[str, Any]
) -> None:
    source = rows.source(organization, base, [], live_revision=None, **columns)
    headers = await service.key(organization)
    shown = (await service.client.get(f"/v1/sources/{source}", headers=headers)).json()
    assert shown["status"] == columns["status"]
    assert (shown["error"] or {}).get("code") == columns.get("error_code")
    assert (await service.client.delete(f"/v1/sources/{source}", headers=headers)).status_code == 202


async def test_a_repeated_request_is_carried_out_once(service: Service, rows: Rows, organization: UUID) -> None:
    bases = [rows.base(organization) for _ in range(2)]
    headers = {**await service.key(organization), "idempotency-key": "once"}
    added = {"kind": "url", "url": "https://x.test/once"}
    ids = []
    for base in (*bases, bases[0]):
        answer = await service.client.post(f"/v1/knowledge-bases/{base}/sources", json=added, headers=headers)
        ids.append(answer.json()["id"])
        # The key counts within one path: another base is another request.
        assert answer.status_code == 202
    assert ids[0] == ids[2] != ids[1]
    shown = await service.client.get(f"/v1/sources/{ids[0]}", headers=headers)
    assert shown.json()["revision"] == 1
    other = {"kind": "url", "url": "https://x.test/other"}
    answer = await service.client.post(f"/v1/knowledge-bases/{bases[0]}/sources", json=other, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (409, "CONFLICT")


async def test_keys_of_repetition_are_of_one_organization(service: Service, rows: Rows) -> None:
    for _ in range(2):
        organization = rows.organization()
        path = f"/v1/knowledge-bases/{default_knowledge_base_id(organization)}/sources"
        headers = {**await service.key(organization), "idempotency-key": "same"}
        answer = await service.client.post(path, json={"kind": "url", "url": "https://x.test"}, headers=headers)
        shown = await service.client.get(answer.headers["location"], headers=headers)
        assert (shown.status_code, shown.json()["revision"]) == (200, 1)


async def test_without_a_broker_nothing_is_written(service: Service, rows: Rows, organization: UUID) -> None:
    base = rows.base(organization)
    source = rows.source(organization, base, ["about refunds"])
    headers = await service.key(organization)
    service.publisher.down = True
    before = rows.execute("select s.*, (select count(*) from taken_event) from knowledge_source s order by id")
    for method, path, body in (
        ("POST", f"/v1/knowledge-bases/{base}/sources", {"kind": "text", "text": "x"}),
        ("PATCH", f"/v1/sources/{source}", {"title": "x"}),
        ("DELETE", f"/v1/sources/{source}", None),
        ("POST", f"/v1/sources/{source}/refresh", None),
    ):
        answer = await service.client.request(method, path, json=body, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (503, "BROKER_DOWN")
        assert "10.0.0.1" not in answer.text
        assert "retry-after" in answer.headers
    assert rows.execute("select s.*, (select count(*) from taken_event) from knowledge_source s order by id") == before


@pytest.mark.parametrize(
    "body",
    [
        "{}",
        '{"title": null}',
        '{"title": "\\ud800"}',
        '{"metadata": {"a": "\\udfff"}}',
        '{"metadata": {"a": NaN}}',
        '{"metadata": ' + '{"a":' * 900 + "1" + "}" * 900 + "}",
        '{"metadata": ' + '{"a":' * 100_000 + "1" + "}" * 100_000 + "}",
        '{"unknown": 1}',
    ],
    ids=range(8),
)
async def test_changes_that_can_not_be_made(
    service: Service, rows: Rows, organization: UUID, base: UUID, body: str
) -> None:
    source = rows.source(organization, base, [])
    headers = {**await service.key(organization), "content-type": "application/json"}
    answer = await service.client.patch(f"/v1/sources/{source}", content=body, headers=headers)
    assert answer.status_code in {400, 422}, answer.text
    assert answer.json()["code"] == "REQUEST_INVALID"
    assert service.publisher.published == []


async def test_an_agent_reads_only(service: Service, rows: Rows, organization: UUID, base: UUID) -> None:
    source = rows.source(organization, base, ["about refunds"])
    headers = await service.key(organization, "agent")
    for path in (f"/v1/sources/{source}", f"/v1/sources/{source}/chunks", "/v1/usage", "/v1/knowledge-bases"):
        assert (await service.client.get(path, headers=headers)).status_code == 200
    for method, path in (
        ("POST", f"/v1/knowledge-bases/{base}/sources"), ("DELETE", f"/v1/sources/{source}"),
        ("GET", "/v1/api-keys"), ("POST", "/v1/api-keys"), ("POST", "/v1/knowledge-bases"),
    ):  # fmt: skip
        body = {"kind": "text", "text": "x", "name": "x"} if method == "POST" else None
        answer = await service.client.request(method, path, json=body, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "FORBIDDEN"), (method, path)


async def test_only_who_sees_it_makes_it_unpublished(
    service: Service, rows: Rows, organization: UUID, base: UUID
) -> None:
    source = rows.source(organization, base, ["about refunds"])
    added = {"kind": "text", "text": "draft", "is_public": False}
    for role, status in (("member", 403), ("staff", 202)):
        headers = await service.key(organization, role)  # type: ignore[arg-type]
        path = f"/v1/knowledge-bases/{base}/sources"
        assert (await service.client.post(path, json=added, headers=headers)).status_code == status
        changed = await service.client.patch(f"/v1/sources/{source}", json={"is_public": False}, headers=headers)
        assert changed.status_code == status


async def test_an_open_service(dsn: str, rows: Rows) -> None:
    access = AccessSettings(open=True)
    async with running(dsn, access=access, encoder=WordEncoder()) as service:
        bases = (await service.client.get("/v1/knowledge-bases")).json()["items"]
        assert [base["organization_id"] for base in bases] == [str(access.organization)]
        organization = rows.organization()
        named = {"x-organization": str(organization)}
        bases = (await service.client.get("/v1/knowledge-bases", headers=named)).json()["items"]
        assert [base["organization_id"] for base in bases] == [str(organization)]
        rebound = await service.client.get("/v1/knowledge-bases", headers={"host": "evil.test"})
        assert rebound.status_code == 401
