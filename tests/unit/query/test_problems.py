from __future__ import annotations

import json

import pytest

from schemas.codes import CATALOGUE, Code
from services.query.api.problems import FieldError, document, responses


@pytest.mark.parametrize("code", list(Code))
def test_every_code_makes_a_document(code: Code) -> None:
    found = json.loads(document(code, 422, "this time"))
    assert found == {
        "type": f"urn:agent-knowledge-base:problem:{code}",
        "title": CATALOGUE[code].meaning,
        "status": 422,
        "detail": "this time",
        "code": code,
        "remedy": CATALOGUE[code].remedy,
    }


def test_fields_and_request_are_named() -> None:
    found = json.loads(
        document(
            Code.REQUEST_INVALID, 422, "", request_id="r1", errors=[FieldError(field="body.k", reason="too large")]
        )
    )
    assert found["request_id"] == "r1"
    assert found["errors"] == [{"field": "body.k", "reason": "too large"}]


def test_errors_are_described_in_their_media_type() -> None:
    for described in responses().values():
        assert "application/problem+json" in described["content"]
