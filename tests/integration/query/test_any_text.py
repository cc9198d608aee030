"""Whatever stands in a query, the answer is an answer, and of one's own organization."""

from __future__ import annotations

import json
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.integration.query.rows import Rows
from tests.integration.query.service import Service

NASTY = [
    "'; drop table chunk; --", "a & b | !c", "foo:*", "<->", "''''", "\\\\'\\'", "--dry-run", "-5 -foo", '"unclosed',
    "C++ C# a.b.C", "src/main/app.py", "v2.13.4 ORA-00942", "https://x.test/a?b=c&d=%20#e", "\0\0\0abc",
    "%s %(x)s {} $1", "select * from organization", "of the and", "日本語のテキスト", "\U0001f600" * 500,
    "\u202e\u0301\u200d\ufeffabc",
    "\ud800\udfff\ud800", "<|endoftext|>", "((((((((", "!!!", ":::", "a" * 500, "' or organization_id is not null or '",
]  # fmt: skip
QUERIES = st.one_of(
    st.sampled_from(NASTY),
    st.text(max_size=520),
    st.text(alphabet="'\\\"&|!<->():*%${} ab\0\n", min_size=3, max_size=60),
    st.lists(st.sampled_from([*NASTY, "secret", "refunds"]), min_size=1, max_size=4).map(" ".join),
)


@pytest.fixture(scope="module")
def organizations(rows: Rows) -> tuple[UUID, UUID]:
    """Mine and another's, whose chunks hold every word that is asked for."""
    mine, other = rows.organization(), rows.organization()
    texts = [text.encode("utf-8", "ignore").decode().replace("\0", "") for text in NASTY]
    rows.source(mine, rows.base(mine), [f"mine {text}" for text in texts])
    rows.source(other, rows.base(other), [f"secret {text}" for text in texts])
    return mine, other


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=QUERIES)
async def test_any_text_is_a_query(service: Service, organizations: tuple[UUID, UUID], query: str) -> None:
    service.client.headers.update(await service.key(organizations[0], "agent"))
    # With escapes, so that halves of characters arrive as they are.
    body = json.dumps({"query": query, "k": 15})
    answer = await service.client.post("/v1/search", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in {200, 422}, answer.text
    if answer.status_code == 422:
        assert answer.json()["code"] == "QUERY_INVALID"
    else:
        assert all(hit["text"].startswith("mine ") for hit in answer.json()["hits"])


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.one_of(st.binary(max_size=200), st.text(max_size=100).map(lambda text: text.encode("utf-8", "ignore"))))
async def test_any_body_gets_an_answer(service: Service, organizations: tuple[UUID, UUID], body: bytes) -> None:
    headers = {**await service.key(organizations[0]), "content-type": "application/json"}
    for path in ("/v1/search", "/v1/knowledge-bases/00000000-0000-4000-8000-000000000000/sources"):
        answer = await service.client.post(path, content=body, headers=headers)
        assert 400 <= answer.status_code < 500, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
