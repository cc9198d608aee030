from __future__ import annotations

from uuid import UUID

import pytest

from services.query.settings import AccessSettings
from tests.integration.query.rows import Rows, WordEncoder
from tests.integration.query.service import Service, running
from tests.support.postgres import SharedPostgres

TEXTS = [
    "Refunds are paid back within fourteen days to the card that was charged.",
    "The parking garage opens at seven and closes at midnight.",
    "Invoices can be downloaded from the billing page of the account.",
]


@pytest.fixture
def filled(rows: Rows) -> tuple[UUID, UUID, UUID]:
    organization = rows.organization()
    base = rows.base(organization)
    source = rows.source(organization, base, TEXTS, title="Handbook", kind="url", url="https://x.test/h")
    return organization, base, source


async def test_answers_with_all_that_a_citation_needs(service: Service, filled: tuple[UUID, UUID, UUID]) -> None:
    organization, base, source = filled
    headers = await service.key(organization, "agent")
    asked = {"query": "when are refunds paid", "explain": True, "k": 2}
    answer = (await service.client.post("/v1/search", json=asked, headers=headers)).json()
    assert answer["mode"] == "hybrid"
    assert answer["degraded"] is None
    assert len(answer["hits"]) == 2
    first = answer["hits"][0]
    assert first["text"] == TEXTS[0]
    assert (first["source_id"], first["knowledge_base_id"]) == (str(source), str(base))
    assert (first["title"], first["url"], first["ordinal"]) == ("Handbook", "https://x.test/h", 0)
    assert first["heading_path"] == ["Top", "Part 0"]
    assert first["explain"]["vector"]["rank"] == first["explain"]["keyword"]["rank"] == 1
    assert first["score"] > answer["hits"][1]["score"]


@pytest.mark.parametrize(
    ("locator", "url"),
    [({"anchor": "größe"}, "https://x.test/h#gr%C3%B6%C3%9Fe"), ({"page": 7, "label": "v"}, "https://x.test/h#page=7")],
)
async def test_links_to_the_place(service: Service, rows: Rows, locator: dict[str, object], url: str) -> None:
    organization = rows.organization()
    source = rows.source(
        organization, rows.base(organization), [], kind="url", fetched_url="https://x.test/h", chunk_count=1
    )
    rows.chunk(organization, source, 0, "A heading of its own", locator)
    headers = await service.key(organization)
    answer = await service.client.post("/v1/search", json={"query": "heading"}, headers=headers)
    assert [hit["url"] for hit in answer.json()["hits"]] == [url]


async def test_filters_narrow(service: Service, rows: Rows) -> None:
    organization = rows.organization()
    bases = [rows.base(organization) for _ in range(2)]
    kinds = ("url", "text")
    sources = [
        rows.source(organization, base, [f"about refunds {number} {kind}"], kind=kind, url="https://x.test/a")
        for number, base in enumerate(bases)
        for kind in kinds
    ]
    headers = await service.key(organization)

    async def found(**filters: object) -> set[str]:
        answer = await service.client.post("/v1/search", json={"query": "refunds", **filters}, headers=headers)
        return {hit["source_id"] for hit in answer.json()["hits"]}

    assert await found() == set(map(str, sources))
    assert await found(knowledge_base_ids=[str(bases[0])]) == set(map(str, sources[:2]))
    assert await found(source_ids=[str(sources[3])]) == {str(sources[3])}
    assert await found(kinds=["text"]) == {str(sources[1]), str(sources[3])}
    assert await found(kinds=["text"], knowledge_base_ids=[str(bases[0])]) == {str(sources[1])}
    assert await found(source_ids=[]) == set()


async def test_k_bounds_the_answer_and_rrf_can_be_chosen(service: Service, rows: Rows) -> None:
    organization = rows.organization()
    texts = [f"refunds {'again ' * times} number {times}" for times in range(40)]
    rows.source(organization, rows.base(organization), texts)
    headers = await service.key(organization)
    for fusion in ("scores", "rrf"):
        sizes = []
        for k in (1, 6, 15):
            asked = {"query": "refunds again", "k": k, "fusion": fusion}
            hits = (await service.client.post("/v1/search", json=asked, headers=headers)).json()["hits"]
            scores = [hit["score"] for hit in hits]
            assert scores == sorted(scores, reverse=True)
            sizes.append(len(hits))
        assert sizes == [1, 6, 15]


async def test_stop_words_alone_leave_the_vector_arm(service: Service, filled: tuple[UUID, UUID, UUID]) -> None:
    headers = await service.key(filled[0])
    answer = (await service.client.post("/v1/search", json={"query": "of the and to"}, headers=headers)).json()
    assert answer["mode"] == "vector"
    assert len(answer["hits"]) == 3


async def test_says_so_when_the_model_is_down(service: Service, filled: tuple[UUID, UUID, UUID]) -> None:
    headers = await service.key(filled[0])
    service.encoder.down = True
    answer = (await service.client.post("/v1/search", json={"query": "about refunds"}, headers=headers)).json()
    assert answer["mode"] == "keyword"
    assert answer["degraded"]["code"] == "PROVIDER_DOWN"
    assert [hit["text"] for hit in answer["hits"]] == [TEXTS[0]]
    service.encoder.down = False
    answer = (await service.client.post("/v1/search", json={"query": "about refunds"}, headers=headers)).json()
    assert (answer["mode"], answer["degraded"]) == ("hybrid", None)


async def test_without_a_model_only_keywords(dsn: str, filled: tuple[UUID, UUID, UUID]) -> None:
    async with running(dsn, access=AccessSettings(), encoder=None) as service:
        headers = await service.key(filled[0])
        answer = (await service.client.post("/v1/search", json={"query": "parking"}, headers=headers)).json()
    assert (answer["mode"], answer["degraded"]["code"]) == ("keyword", "W001")
    assert [hit["text"] for hit in answer["hits"]] == [TEXTS[1]]


async def test_without_pgvector_it_is_unavailable(shared_postgres: SharedPostgres, migrated: str) -> None:
    dsn = shared_postgres.create_database(template=migrated)
    rows = Rows(dsn)
    organization = rows.organization()
    rows.execute("drop extension vector cascade")
    async with running(dsn, access=AccessSettings(), encoder=WordEncoder()) as service:
        headers = await service.key(organization)
        answer = await service.client.post("/v1/search", json={"query": "parking"}, headers=headers)
        assert answer.status_code == 503
        assert answer.json()["code"] == "SEARCH_UNAVAILABLE"
        assert "W002" in answer.json()["detail"]
    shared_postgres.drop_database(dsn)


async def test_before_anything_is_embedded_keywords_answer(shared_postgres: SharedPostgres, migrated: str) -> None:
    dsn = shared_postgres.create_database(template=migrated)
    rows = Rows(dsn)
    organization = rows.organization()
    rows.source(organization, rows.base(organization), TEXTS)
    rows.execute("update embedding_space set name = 'another/space@64'")
    async with running(dsn, access=AccessSettings(), encoder=WordEncoder()) as service:
        headers = await service.key(organization)
        answer = (await service.client.post("/v1/search", json={"query": "parking"}, headers=headers)).json()
    assert (answer["mode"], answer["degraded"]["code"]) == ("keyword", "MODEL_UNAVAILABLE")
    assert [hit["text"] for hit in answer["hits"]] == [TEXTS[1]]
    shared_postgres.drop_database(dsn)


@pytest.mark.parametrize("query", ["", "ab", "  ab \n", "a\0", "x" * 501, "é" * 501])
async def test_queries_too_short_or_too_long(service: Service, filled: tuple[UUID, UUID, UUID], query: str) -> None:
    headers = await service.key(filled[0])
    answer = await service.client.post("/v1/search", json={"query": query}, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (422, "QUERY_INVALID")


@pytest.mark.parametrize("query", ["abc", "  abc  ", "x" * 500, "\U0001f600" * 500, " " * 900 + "abc"])
async def test_queries_at_the_bounds(service: Service, filled: tuple[UUID, UUID, UUID], query: str) -> None:
    headers = await service.key(filled[0])
    answer = await service.client.post("/v1/search", json={"query": query}, headers=headers)
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "wrong",
    [{"k": 0}, {"k": 16}, {"query": None}, {"query": 5}, {"kinds": ["video"]}, {"source_ids": ["x"]}, {"other": 1}],
)
async def test_requests_that_do_not_follow_the_api(service: Service, rows: Rows, wrong: dict[str, object]) -> None:
    headers = await service.key(rows.organization())
    answer = await service.client.post("/v1/search", json={"query": "refunds", **wrong}, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (422, "REQUEST_INVALID")
    assert answer.json()["errors"][0]["field"].startswith("body.")


async def test_query_vectors_are_kept(service: Service, filled: tuple[UUID, UUID, UUID]) -> None:
    headers = await service.key(filled[0])
    for _ in range(3):
        await service.client.post("/v1/search", json={"query": "the same twice"}, headers=headers)
    assert service.encoder.asked == ["the same twice"]


async def test_chunks_without_a_vector_are_found_by_words(service: Service, rows: Rows) -> None:
    organization = rows.organization()
    source = rows.source(organization, rows.base(organization), TEXTS)
    rows.execute(f"delete from chunk_vector_{rows.space_id} where source_id = %s", source)
    headers = await service.key(organization)
    answer = (
        await service.client.post("/v1/search", json={"query": "parking", "explain": True}, headers=headers)
    ).json()
    assert [hit["text"] for hit in answer["hits"]] == [TEXTS[1]]
    assert answer["hits"][0]["explain"]["vector"] == {"rank": None, "score": None}
