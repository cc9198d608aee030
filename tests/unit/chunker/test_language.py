import re
import time
from pathlib import Path

import pytest

from services.chunker.language import language_of
from services.chunker.parsing import parse

LINES = [line.split("\t") for line in (Path(__file__).parent / "languages.tsv").read_text().splitlines()]
TEXTS = dict(LINES)


@pytest.mark.parametrize(("language", "text"), LINES)
def test_languages(language: str, text: str) -> None:
    assert language_of(text) == language


def test_identifiers_in_a_text_change_nothing() -> None:
    text = TEXTS["ja"] + " run_lamp(config.yaml) --verbose https://example.org/docs/lamp " + TEXTS["ja"]
    assert language_of(text) == "ja"
    assert language_of(TEXTS["de"] + " kb.source.fetched.v1 LampController " * 5) == "de"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Lamp 2.1",
        "3f2a9c d41d8c a9b1c2 0xdeadbeef " * 20,
        "def f(x): return x[0]; self.y = {'a': 1}; foo_bar.baz(qux) " * 5,
        "| 1 | 2 |\n| 3 | 4 |\n" * 20,
    ],
)
def test_what_is_no_prose_has_no_language(text: str) -> None:
    assert language_of(text) is None


def test_code_says_nothing_of_a_documents_language() -> None:
    code = "for each of the items in the list that we have, print the name of it and the value of it\n" * 5
    assert parse(f"{TEXTS['fr']}\n\n```\n{code}```\n".encode(), name="a.md").language == "fr"


def test_a_head_in_another_language_does_not_decide() -> None:
    body = "\n\n".join([TEXTS["en"]] + [TEXTS["fi"]] * 30)
    assert parse(body.encode(), name="a.txt").language == "fi"


def test_a_text_takes_less_than_two_milliseconds() -> None:
    language_of(TEXTS["en"])
    text = (TEXTS["en"] + " ") * 40
    started = time.process_time()
    for _ in range(50):
        language_of(text)
    assert (time.process_time() - started) / 50 < 0.002


SITES = Path(__file__).parents[4] / "shared/data/sites"


@pytest.mark.skipif(not SITES.exists(), reason="needs the shared sites")
def test_translations_of_a_site() -> None:
    pages = [page.read_bytes() for page in sorted((SITES / "apache-multilang").glob("*/**/*.html"))]
    named = [match[1].decode() if (match := re.search(rb'<html[^>]* lang="(..)', page)) else None for page in pages]
    found = [parse(page, media_type="text/html").language for page in pages]
    assert len({language for language in found if language}) >= 7
    # One page has hardly any words.
    assert sum(1 for name, language in zip(named, found, strict=True) if language and language != name) == 0
    assert found.count(None) <= 2
