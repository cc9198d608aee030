"""The PDFs of the shared samples: what their list says must be found, left out or refused."""

import json

import pytest

from services.chassis.errors import SourceRefused
from services.chunker.parsing import parse
from tests.support.samples import FILES, listed, squeezed

SAMPLES = listed("pdf-")
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


def test_the_damaged_page_is_warned_of() -> None:
    assert parse((FILES / "pdf-one-bad-page.pdf").read_bytes()).warnings
