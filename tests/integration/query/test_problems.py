"""Whatever goes wrong, the answer is a problem document with a code of the catalogue."""

from __future__ import annotations

import pytest
import structlog

from schemas.codes import Code
from services.query.library import Library
from tests.integration.query.rows import Rows
from tests.integration.query.service import Service


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/", 404, "NOT_FOUND"),
        ("GET", "/v1/nothing", 404, "NOT_FOUND"),
        ("GET", "/v1/search", 405, "REQUEST_INVALID"),
        ("POST", "/v1/search", 422, "REQUEST_INVALID"),
        ("GET", "/v1/sources/not-an-id", 422, "REQUEST_INVALID"),
    ],
)
async def test_errors_of_http(service: Service, rows: Rows, method: str, path: str, status: int, code: str) -> None:
    headers = await service.key(rows.organization())
    answer = await service.client.request(method, path, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.json()["status"] == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["request_id"] == answer.headers["x-request-id"]


async def test_the_request_id_is_the_callers_where_it_is_one(service: Service) -> None:
    for given, is_kept in (("abc-1.2:3", True), ("x" * 65, False), ("a b", False)):
        answer = await service.client.get("/v1/search", headers={"x-request-id": given})
        assert (answer.headers["x-request-id"] == given) is is_kept


async def test_an_unexpected_error_tells_nothing_but_its_id(
    service: Service, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise KeyError("secret")

    headers = await service.key(rows.organization())
    monkeypatch.setattr(Library, "knowledge_bases", broken)
    with structlog.testing.capture_logs() as logged:
        answer = await service.client.get("/v1/knowledge-bases", headers=headers)
    assert [entry["event"] for entry in logged] == ["a request failed", "answered"]
    assert (answer.status_code, answer.json()["code"]) == (500, "INTERNAL")
    assert "secret" not in answer.text
    assert answer.headers["x-request-id"] == answer.json()["request_id"]


async def test_a_body_above_the_bound(service: Service, rows: Rows) -> None:
    headers = {**await service.key(rows.organization()), "content-type": "application/json"}
    answer = await service.client.post("/v1/search", content=b"x" * (5 * 1024**2), headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (413, "REQUEST_INVALID")


async def test_operational_paths_need_no_key(service: Service) -> None:
    assert (await service.client.get("/healthz")).json()["alive"] is True
    assert (await service.client.get("/readyz")).json()["ready"] is True
    assert "kb_search_seconds" in (await service.client.get("/metrics")).text


async def test_the_description(service: Service) -> None:
    described = (await service.client.get("/openapi.json")).json()
    problem = described["components"]["schemas"]["Problem"]
    assert set(problem["required"]) == {"type", "title", "status", "detail", "code", "remedy"}
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            for status, response in operation["responses"].items():
                if int(status) >= 400:
                    assert list(response["content"]) == ["application/problem+json"], (path, method, status)
    adding = described["paths"]["/v1/knowledge-bases/{base_id}/sources"]["post"]["requestBody"]["content"]
    assert set(adding) == {"application/json", "multipart/form-data"}
    text = str(described)
    assert all(f"#/components/schemas/{name}" in text for name in ("AddedPage", "AddedText", "FileForm"))
    assert {"AddedPage", "AddedText", "FileForm"} <= set(described["components"]["schemas"])


async def test_every_code_is_told_with_what_to_do(service: Service) -> None:
    answer = await service.client.get("/v1/errors")
    assert {item["code"] for item in answer.json()["items"]} == set(Code)
    assert all(item["meaning"] and item["remedy"] for item in answer.json()["items"])
