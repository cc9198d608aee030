"""BM25 in SQL against the formula in Python, over the lexemes that Postgres sees."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from uuid import UUID

import psycopg
import pytest

from tests.integration.query.rows import Rows, asked

K1, B = 1.2, 0.75
WORDS = [f"{first}{last}" for first in ("lum", "kar", "dov", "ziq", "pel") for last in ("ast", "ork", "ump", "ind")]
QUERIES = ["lumast karork", "the dovump of pelind and ziqast", " ".join(WORDS), "lumast lumast nowhere", "zzz"]


def reference(rows: Rows, organization: UUID, query: str) -> dict[UUID, float]:
    """Scores of all chunks that hold a word. A chunk's length is the number of its different lexemes."""
    documents: dict[UUID, Counter[str]] = defaultdict(Counter)
    for chunk, lexeme, times in rows.execute(
        "select chunk_id, lexeme, cardinality(positions) from chunk_words, unnest(words) where organization_id = %s",
        organization,
    ):
        documents[chunk][lexeme] = times
    asked = [row[0] for row in rows.execute("select unnest(tsvector_to_array(to_tsvector('english', %s)))", query)]
    average = sum(map(len, documents.values())) / len(documents)
    scores: dict[UUID, float] = {}
    for word in asked:
        holding = sum(word in document for document in documents.values())
        idf = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
        for chunk, document in documents.items():
            if times := document[word]:
                norm = K1 * (1 - B + B * len(document) / average)
                scores[chunk] = scores.get(chunk, 0) + idf * times * (K1 + 1) / (times + norm)
    return scores


def searched(dsn: str, organization: UUID, query: str) -> list[tuple[UUID, float]]:
    with psycopg.connect(dsn) as connection:
        connection.execute("set role kb_query")
        connection.execute("select set_config('app.organization_id', %s, true)", (str(organization),))
        return connection.execute(
            "select chunk_id, bm25 from search_chunks("
            "%s, %s, null, null, 'keyword', 1000, 1000, null, false, false, null, null, null, false, null)",
            asked(query),
        ).fetchall()


@pytest.fixture(scope="module", params=["counted", "kept"])
def organization(rows: Rows, request: pytest.FixtureRequest) -> UUID:
    """Chunks of 1 to 300 words, some of which come more than 100 times."""
    chance = random.Random(5)
    organization = rows.organization()
    weights = [1 / (place + 1) ** 2 for place in range(len(WORDS))]
    texts = [" ".join(chance.choices(WORDS, weights, k=chance.randint(1, 300))) for _ in range(60)]
    rows.source(organization, rows.base(organization), texts)
    if request.param == "kept":
        rows.execute("select refresh_word_statistics(%s)", organization)
    return organization


@pytest.mark.parametrize("query", QUERIES)
def test_equals_the_reference(dsn: str, rows: Rows, organization: UUID, query: str) -> None:
    expected = reference(rows, organization, query)
    found = searched(dsn, organization, query)
    assert dict(found) == pytest.approx(expected, abs=1e-4)


def test_statistics_are_of_one_organization(dsn: str, rows: Rows) -> None:
    mine, other = rows.organization(), rows.organization()
    rows.source(mine, rows.base(mine), ["alpha beta", "gamma beta"])
    before = searched(dsn, mine, "alpha beta")
    rows.source(other, rows.base(other), ["alpha beta gamma delta"] * 20)
    assert searched(dsn, mine, "alpha beta") == before


def test_refreshed_statistics_keep_common_words_alone(rows: Rows) -> None:
    organization = rows.organization()
    source = rows.source(
        organization, rows.base(organization), [f"common odd {WORDS[number % 20]} {number:04}" for number in range(30)]
    )
    rows.execute("select refresh_word_statistics(%s)", organization)
    kept = "select lexeme, chunks from word_frequency where organization_id = %s"
    assert sorted(rows.execute(kept, organization)) == [("common", 30), ("odd", 30)]
    rows.execute("delete from chunk_words where source_id = %s", source)
    rows.execute("select refresh_word_statistics(%s)", organization)
    assert rows.execute(kept, organization) == []


@pytest.mark.parametrize("times", [1, 2, 3, 10, 100, 255])
def test_occurrences_are_read_from_the_rank(rows: Rows, times: int) -> None:
    [(expression,)] = rows.execute("select bm25_expression(array['word'::tsquery, 'absent'], array[2.2, 2.2])")
    text = "word other " * times
    statement = f"select {expression} from (select 1.5 as c) n, (select to_tsvector('english', %s) as words) w"
    assert rows.execute(statement, text)[0][0] == pytest.approx(2.2 * times / (times + 1.5), abs=1e-9)


@pytest.mark.parametrize("lexeme", ["it's", "back\\slash", "a & b | !c", "'", "\\", "x:*", " spaced ", "\N{SNOWMAN}"])
def test_any_lexeme_makes_a_query(rows: Rows, lexeme: str) -> None:
    assert rows.execute("select lexeme_query(%s) @@@ array_to_tsvector(array[%s])", lexeme, lexeme) == [(True,)]
