"""The office files of the shared samples: what their list says must be found, left out or refused."""

import csv
import json
import time
import unicodedata
from pathlib import Path

import pytest

from services.chassis.errors import SourceRefused
from services.chunker.parsing import parse

FILES = Path(__file__).parents[5] / "shared/data/files"
LIST = FILES / "manifest.tsv"
PREFIXES = ("docx-", "pptx-", "ppt-")


def listed() -> list[dict[str, str]]:
    if not LIST.exists():
        return []
    with LIST.open(newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [row for row in rows if row["file"].startswith(PREFIXES)]


def squeezed(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())


SAMPLES = listed()
pytestmark = pytest.mark.skipif(not SAMPLES, reason="needs the shared samples")


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda row: row["file"])
def test_sample(sample: dict[str, str]) -> None:
    body = (FILES / sample["file"]).read_bytes()
    try:
        text = squeezed(parse(body, name=sample["file"]).text)
    except SourceRefused:
        assert sample["expect"] != "extract"
        return
    assert sample["expect"] != "refuse"
    assert [wanted for wanted in json.loads(sample["must_contain"]) if squeezed(wanted) not in text] == []
    assert [unwanted for unwanted in json.loads(sample["must_not_contain"]) if squeezed(unwanted) in text] == []


def test_a_book_takes_less_than_five_seconds() -> None:
    body = (FILES / "docx-872-pages-handbook.docx").read_bytes()
    start = time.process_time()
    document = parse(body)
    assert time.process_time() - start < 5
    assert len(document.text) > 800_000
