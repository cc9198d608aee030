"""Each source is stemmed by its own language, and a query is understood in those that the reader's sources are in."""

from __future__ import annotations

from uuid import UUID

import psycopg
import pytest

from schemas.words import words_of
from tests.integration.query.rows import Rows, asked


def found(rows: Rows, organization: UUID, query: str) -> list[str]:
    """Texts by words alone, best first."""
    with psycopg.connect(rows.dsn) as connection:
        connection.execute("set role kb_query")
        connection.execute("select set_config('app.organization_id', %s, true)", (str(organization),))
        return [
            row[0]
            for row in connection.execute(
                "select t.text from search_chunks(%s, %s, null, null, 'keyword', 30, 30, null, false, false, "
                "null, null, null, false, null) c join chunk t on t.id = c.chunk_id order by c.score desc",
                asked(query),
            ).fetchall()
        ]


TEXTS = {
    "en": ("The whales were swimming towards the islands.", "whale swims island"),
    "de": ("Die Häuser am Fluss wurden neu gestrichen.", "Haus streichen gestrichen"),
    "fr": ("Les règlements prévoient des exceptions généreuses.", "réglement exception généreux"),
    "es": ("Las bibliotecas abren los domingos.", "biblioteca domingo"),
    "ru": ("Библиотеки открыты по воскресеньям.", "библиотека воскресенье"),
    "tr": ("Kütüphaneler pazar günleri açıktır.", "kütüphane günleri"),
    "ja": ("図書館は日曜日も開いています。", "図書館 日曜日"),
    "zh": ("图书馆星期天也开放。", "图书馆"),
    "ko": ("도서관은 일요일에도 엽니다.", "도서관"),
    "th": ("ห้องสมุดเปิดวันอาทิตย์", "ห้องสมุด"),
    "pl": ("Biblioteka jest otwarta w niedzielę.", "biblioteka niedziele"),
}


@pytest.mark.parametrize("language", TEXTS)
def test_a_form_of_the_word_is_found(rows: Rows, language: str) -> None:
    organization = rows.organization()
    text, query = TEXTS[language]
    rows.source(organization, rows.base(organization), [text, "0815"], language=language)
    assert found(rows, organization, query) == [text]


@pytest.mark.parametrize("language", TEXTS)
def test_a_language_of_few_sources_is_understood_beside_that_of_many(rows: Rows, language: str) -> None:
    organization = rows.organization()
    base = rows.base(organization)
    rows.source(
        organization, base, [f"The manual has a chapter {number} on pumps." for number in range(40)], language="en"
    )
    text, query = TEXTS[language]
    rows.source(organization, base, [text], language=language)
    assert found(rows, organization, query)[0] == text


def test_stop_words_of_the_main_language_are_not_looked_for_in_others(rows: Rows) -> None:
    """A Danish text that quotes English holds `the`, which no English chunk has as a word."""
    organization = rows.organization()
    base = rows.base(organization)
    english = [f"How a lambda works, part {number}." for number in range(20)]
    rows.source(organization, base, english, language="en")
    rows.source(organization, base, ["Sangen hedder The how of the by the."], language="da")
    assert found(rows, organization, "how does the lambda work")[0] in english


def test_words_are_without_accents_on_both_sides(rows: Rows) -> None:
    organization = rows.organization()
    rows.source(organization, rows.base(organization), ["Crème brûlée at the Café Zoë"])
    assert found(rows, organization, "creme brulee cafe zoe")
    assert found(rows, organization, "CAFÉ")


@pytest.mark.parametrize("language", ["en", "de", "xx", "zh", None])
def test_every_language_has_a_stemmer_or_none(rows: Rows, language: str | None) -> None:
    words = words_of("Something to stem")
    [(vector,)] = rows.execute("select words_of(%s, %s, %s)::text", language, words.prose, words.vector())
    assert "'stem'" in vector
