"""The order that both arms' candidates come into, in SQL against the formulas."""

from __future__ import annotations

import math
import statistics
from uuid import UUID

import psycopg
import pytest

from tests.integration.query.rows import SPACE, Rows, asked
from tests.support.provider import bag_vectors

TEXTS = [
    "whale song of the deep sea", "whale watching in spring", "song and dance of the valley", "deep learning of songs",
    "a sea of grass", "nothing alike here", "whale whale whale", "the valley of the whale song",
]  # fmt: skip


def score(rows: Rows, *arguments: object) -> float | None:
    [(found,)] = rows.execute("select fused_score(%s, %s, %s, %s, %s, %s, %s, %s)", *arguments)
    return found


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("scores", 0.7, 0.0, 0.5, 0.1, 0.2, 1, None), 2),
        (("scores", 0.4, 5.0, 0.5, 0.1, 0.2, 2, 1), -1 + 0.2 * 5),
        (("scores", 0.5, 3.0, 0.5, 0.0, 0.2, 1, 1), 0.2 * 3),  # an arm without differences says nothing
        (("scores", None, 3.0, 0.5, 0.1, 0.2, None, 1), 0.2 * 3),  # nor does one that doesn't know the chunk
        (("scores", None, 3.0, None, None, 0.2, None, 1), 0.2 * 3),
        (("scores", 0.7, 0.0, 0.5, 0.1, None, 1, None), 2),
        (("rrf", 0.9, 1.0, 0, 0, 0, 1, 3), 1 / 61 + 1 / 63),
        (("rrf", 0.9, 1.0, 0, 0, 0, None, 3), 1 / 63),
        (("rrf", 0.9, 1.0, 0, 0, 0, None, None), None),
        (("dense", 0.9, 1.0, 0, 0, 0, 1, 1), 0.9),
        (("dense", None, 1.0, 0, 0, 0, None, 1), None),
        (("keyword", 0.9, 1.5, 0, 0, 0, 1, 1), 1.5),
        (("keyword", 0.9, 0.0, 0, 0, 0, 1, None), None),
    ],
)
def test_what_a_candidate_is_worth(rows: Rows, arguments: tuple[object, ...], expected: float | None) -> None:
    assert score(rows, *arguments) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((5.0, 20.0, 16.0), 0.43 / 8),
        ((11.0, 20.0, 16.0), 0.43 / 8),
        ((16.5, 20.0, 16.0), 0.43 / 8 * 1.5**2),
        ((0.5, 2.0, 0.0), 0.43),  # a word that all hold is still a word
        ((None, None, None), 0.43),
    ],
)
def test_what_a_point_of_bm25_is_worth(rows: Rows, arguments: tuple[object, ...], expected: float) -> None:
    [(found,)] = rows.execute("select bm25_worth(%s::float8, %s::float8, %s::float8)", *arguments)
    assert found == pytest.approx(expected)


@pytest.fixture(scope="module")
def organization(rows: Rows) -> UUID:
    organization = rows.organization()
    rows.source(organization, rows.base(organization), TEXTS)
    return organization


def search(rows: Rows, organization: UUID, fusion: str, pool: int = 30, most: int = 30) -> list[tuple[object, ...]]:
    """Rows of chunk, score, cosine, its rank, BM25, its rank."""
    vector = "[" + ",".join(map(str, bag_vectors(["whale song"], SPACE.dimensions)[0].tolist())) + "]"
    with psycopg.connect(rows.dsn) as connection:
        connection.execute("select set_config('app.organization_id', %s, true)", (str(organization),))
        return connection.execute(
            "select chunk_id, score, cosine, vector_rank, bm25, keyword_rank from search_chunks("
            "%s, %s, %s, %s, %s, %s, %s, null, false, false, null, null, null, false, null)",
            (*asked("whale song"), vector, rows.space_id, fusion, pool, most),
        ).fetchall()


def worth(best: float) -> float:
    """Of a point of BM25 for "whale song", as if the two words had nothing to do with each other."""
    holders = [sum(stem in text for text in TEXTS) for stem in ("whale", "song")]
    shares = [count / len(TEXTS) for count in holders]
    weights = [2.2 * math.log(1 + (len(TEXTS) - count + 0.5) / (count + 0.5)) for count in holders]
    deviation = math.sqrt(sum(weight**2 * share * (1 - share) for weight, share in zip(weights, shares, strict=True)))
    return float(0.43 / deviation**0.75 * max(1, best / 0.55 / sum(weights)) ** 2)


def test_cosines_count_in_deviations_over_all_that_is_visible(rows: Rows, organization: UUID) -> None:
    found = search(rows, organization, "scores")
    assert len(found) == len(TEXTS)
    cosines, scores = [float(str(row[2])) for row in found], [float(str(row[4])) for row in found]
    expected = [
        (cosine - statistics.fmean(cosines)) / statistics.pstdev(cosines) + worth(max(scores)) * bm25
        for cosine, bm25 in zip(cosines, scores, strict=True)
    ]
    assert [row[1] for row in found] == pytest.approx(expected, abs=1e-6)
    assert expected == sorted(expected, reverse=True)


def test_ranks_are_of_what_an_arm_puts_forward(rows: Rows, organization: UUID) -> None:
    found = search(rows, organization, "rrf", pool=2)
    assert sorted(row[3] for row in found if row[3]) == [1, 2]
    assert sorted(row[5] for row in found if row[5]) == [1, 2]
    for row in found:
        assert row[1] == pytest.approx(sum(1 / (60 + int(str(rank))) for rank in (row[3], row[5]) if rank))


@pytest.mark.parametrize("fusion", ["scores", "rrf", "dense", "keyword"])
def test_the_cut_comes_last(rows: Rows, organization: UUID, fusion: str) -> None:
    everything = search(rows, organization, fusion)
    assert search(rows, organization, fusion, most=3) == everything[:3]
    assert [row[1] for row in everything] == sorted((row[1] for row in everything), reverse=True)  # type: ignore[type-var]
    if fusion == "keyword":
        assert all(row[4] for row in everything)


def test_equal_ones_come_in_the_order_of_ids(rows: Rows) -> None:
    organization = rows.organization()
    rows.source(organization, rows.base(organization), ["whale song"] * 5)
    found = [row[0] for row in search(rows, organization, "scores")]
    assert found == sorted(found, key=lambda chunk: UUID(str(chunk)).int)
