"""Whole sites against their gold text: content found, furniture left out, headings with anchors that exist."""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.chunker.blocks import Document, Kind
from services.chunker.chunking import chunk
from services.chunker.parsing import parse
from services.chunker.presets import PRESETS
from services.encoder.tokens import count_tokens

DATA = Path(__file__).parents[4] / "shared/data"
GOLD = sorted((DATA / "sites_gold").glob("*.jsonl"))
WORD = re.compile(r"\w+")
ID = re.compile(r"""\s(?:id|name)\s*=\s*["']?([^"'\s>]+)""")

pytestmark = pytest.mark.skipif(not GOLD, reason="needs the shared sites")


class Page(NamedTuple):
    gold: dict[str, Any]
    source: str
    document: Document


@pytest.fixture(scope="module", params=GOLD, ids=lambda path: path.stem)
def site(request: pytest.FixtureRequest) -> list[Page]:
    pages = []
    for line in request.param.read_text().splitlines():
        gold = json.loads(line)
        body = (DATA / "sites" / request.param.stem / gold["path"]).read_bytes()
        document = parse(body, media_type="text/html", name=gold["path"])
        pages.append(Page(gold, body.decode(gold["encoding"], "replace"), document))
    return pages


def test_words_of_the_content_are_found(site: list[Page]) -> None:
    found = total = 0
    for page in site:
        wanted = Counter(WORD.findall(page.gold["main_text"]))
        found += (wanted & Counter(WORD.findall(page.document.text))).total()
        total += wanted.total()
    assert found >= 0.97 * total


def test_no_boilerplate_is_left(site: list[Page]) -> None:
    for page in site:
        text = f" {' '.join(WORD.findall(page.document.text))} "
        for boilerplate in page.gold["boilerplate"]:
            assert f" {' '.join(WORD.findall(boilerplate))} " not in text, page.gold["path"]


def test_headings_are_found_in_order(site: list[Page]) -> None:
    matched = wanted = given = 0
    for page in site:
        gold = [" ".join(heading.split()) for heading in page.gold["headings"]]
        ours = [block.text for block in page.document.blocks if block.kind is Kind.HEADING]
        matched += sum(block.size for block in SequenceMatcher(None, gold, ours, autojunk=False).get_matching_blocks())
        wanted += len(gold)
        given += len(ours)
    assert 2 * matched / (wanted + given) >= 0.97


def test_headings_lead_to_ids_of_the_page(site: list[Page]) -> None:
    for page in site:
        ids = {html.unescape(found) for found in ID.findall(page.source)}
        if ids:
            for block in page.document.blocks:
                if block.kind is Kind.HEADING:
                    assert block.locator.anchor in ids, (page.gold["path"], block.text)


def test_code_keeps_its_lines(site: list[Page]) -> None:
    for page in site:
        code = (page.gold["first_code"] or "").strip()
        if "\n" in code and page.gold["code_blocks"]:
            assert code.replace("\xa0", " ") in page.document.text, page.gold["path"]


def test_chunks_of_pages(site: list[Page]) -> None:
    for page in site:
        text, covered = page.document.text, 0
        for preset in PRESETS.values():
            covered = 0
            for piece in chunk(page.document, preset):
                assert text[piece.start : piece.end] == piece.text
                assert piece.token_count == count_tokens(piece.text)
                assert preset.measure(piece.text) <= preset.budget
                assert not text[covered : piece.start].strip()
                covered = piece.end
        assert not text[covered:].strip()


def test_a_shell_that_scripts_fill_is_refused() -> None:
    with pytest.raises(SourceRefused) as refused:
        parse((DATA / "sites/docsify-spa/index.html").read_bytes(), media_type="text/html")
    assert refused.value.code is Code.NO_TEXT
    assert "scripts" in refused.value.reason
