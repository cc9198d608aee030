"""What holds for chunks holds for the shared data: a sample of each kind, or all of it with KB_TEST_ALL_DATA=1."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.chassis.errors import SourceRefused
from services.chunker.parsing import parse
from services.chunker.presets import PRESETS
from tests.support.chunks import assert_sound

DATA = Path(__file__).parents[4] / "shared/data"
ALL = bool(os.environ.get("KB_TEST_ALL_DATA"))
LARGEST = 500_000  # bytes of a file of the sample
PAGES = 60  # of each site
TEXTS = 200  # of each corpus

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="needs the shared data")


def sample(paths: list[Path], number: int) -> list[Path]:
    """So many of the paths, evenly spread; all of them if all are wanted."""
    return paths if ALL else paths[:: max(1, len(paths) // number)]


def check(body: bytes, name: str) -> bool:
    """Check the chunks of one source by all presets; False if it has no text."""
    try:
        document = parse(body, name=name)
    except SourceRefused:
        return False
    for preset in PRESETS.values():
        assert_sound(document, preset)
    return True


def texts(corpus: Path) -> Iterator[bytes]:
    with corpus.open(encoding="utf-8") as lines:
        every = [json.loads(line)["text"].encode() for line in lines]
    return iter(every if ALL else every[:: max(1, len(every) // TEXTS)])


@pytest.mark.parametrize("corpus", sorted((DATA / "ir").glob("*/corpus.jsonl")), ids=lambda path: path.parent.name)
@pytest.mark.parametrize("name", ["a.md", "a.txt"])
@pytest.mark.timeout(900)
def test_texts(corpus: Path, name: str) -> None:
    checked = [check(text, name) for text in texts(corpus)]
    assert any(checked)


@pytest.mark.parametrize(
    "site", sorted(path for path in (DATA / "sites").glob("*") if path.is_dir()), ids=lambda path: path.name
)
@pytest.mark.timeout(900)
def test_pages(site: Path) -> None:
    for path in sample(sorted(site.rglob("*.html")), PAGES):
        check(path.read_bytes(), path.name)


@pytest.mark.parametrize(
    "path",
    sorted(path for path in (DATA / "files").glob("*") if path.suffix in (".md", ".txt", ".html")),
    ids=lambda path: path.name,
)
def test_files(path: Path) -> None:
    if path.stat().st_size > LARGEST and not ALL:
        pytest.skip("large: KB_TEST_ALL_DATA=1 takes it")
    check(path.read_bytes(), path.name)
