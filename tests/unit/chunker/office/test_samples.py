"""The office files of the shared samples: what their list says must be found, left out or refused."""

import json
import time

import pytest

from services.chassis.errors import SourceRefused
from services.chunker.parsing import parse
from tests.support.samples import FILES, listed, squeezed

SAMPLES = listed("docx-", "pptx-", "ppt-")
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
