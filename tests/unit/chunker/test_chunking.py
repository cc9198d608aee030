from itertools import pairwise
from pathlib import Path

import pytest

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.chunker import chunking
from services.chunker.blocks import Document, Kind
from services.chunker.chunking import chunk
from services.chunker.parsing import parse
from services.chunker.plaintext import parse_text
from services.chunker.presets import PRESETS, Preset
from services.encoder.tokens import count_tokens

DEFAULT = PRESETS["default"]
SPEC = Path(__file__).parents[4] / "shared/data/files/md-commonmark-spec.md"


def markdown(source: str) -> Document:
    return parse(source.encode(), name="a.md")


def test_a_small_document_is_one_chunk() -> None:
    document = markdown("# Title\n\nText.\n\n## Section\n\nMore.")
    (only,) = chunk(document, DEFAULT)
    assert only.text == document.text
    assert only.heading_path == ("Title",)
    assert only.locator.anchor == "title"
    assert len(only.content_hash) == 64


def test_cuts_are_made_at_headings_first() -> None:
    sections = [f"## Section {n}\n\n" + "Some words of text here. " * 50 for n in range(8)]
    chunks = chunk(markdown("# Title\n\n" + "\n\n".join(sections)), DEFAULT)
    assert all(piece.text.startswith(("Title", "Section")) for piece in chunks)
    assert [piece.heading_path[-1] for piece in chunks[1:]] == [p.text.split("\n")[0] for p in chunks[1:]]


def test_tiny_sections_are_put_together() -> None:
    document = markdown("\n\n".join(f"## Option {n}\n\nWhat option {n} does." for n in range(400)))
    chunks = chunk(document, DEFAULT)
    assert sum(piece.token_count for piece in chunks) / len(chunks) > 250
    assert min(piece.token_count for piece in chunks) > 100


def test_a_title_is_not_left_alone() -> None:
    document = markdown("\n\n".join(f"# Part {n}\n\n" + "Words and words. " * 110 for n in range(20)))
    for piece in chunk(document, DEFAULT):
        assert not piece.text.rsplit("\n", 1)[-1].startswith("Part")


def test_overlap_stays_inside_a_section() -> None:
    paragraphs = "\n\n".join(f"Paragraph {n} says this. And it says that." for n in range(200))
    document = markdown(f"# One\n\n{paragraphs}\n\n# Two\n\n{paragraphs}")
    chunks = chunk(document, DEFAULT)
    border = document.text.index("Two")
    overlapping = 0
    for before, after in pairwise(chunks):
        shared = document.text[after.start : before.end]
        overlapping += bool(shared)
        assert count_tokens(shared) <= DEFAULT.overlap
        assert not after.start < border <= after.end or after.start == border or before.end <= border
    assert overlapping == len(chunks) - 2
    assert any(piece.start == border for piece in chunks)


@pytest.mark.parametrize(
    "source",
    [
        "```py\n" + "\n".join(f"value_{n} = {n}" for n in range(70)) + "\n```",
        "- " + "item text goes on " * 80,
        "| a | b |\n|---|---|\n" + "\n".join(f"| row {n} | {'x' * 20} |" for n in range(20)),
    ],
)
def test_what_fits_is_not_cut(source: str) -> None:
    prose = "\n\n".join(f"Paragraph {n} says this and that." for n in range(60))
    document = markdown(f"{prose}\n\n{source}\n\n{prose}\n\n{source}\n\n{prose}")
    whole = [block for block in document.blocks if block.kind is not Kind.PARAGRAPH]
    for piece in chunk(document, DEFAULT):
        for block in whole:
            assert (
                piece.end <= block.start
                or block.end <= piece.start
                or piece.start <= block.start < block.end <= piece.end
            )


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("word " * 1000, id="words"),
        pytest.param("One sentence. Another one!\n\n" * 300, id="paragraphs"),
        pytest.param("𒀀𒀁" * 400, id="signs of several tokens each"),
        pytest.param("<|endoftext|>" * 200, id="special tokens"),
    ],
)
def test_the_limit_of_tokens_is_exact(text: str, preset: Preset) -> None:
    document = parse_text(text, "utf-8")
    tokens = count_tokens(document.text)
    assert chunk(document, preset, tokens)
    with pytest.raises(SourceRefused) as refused:
        chunk(document, preset, tokens - 1)
    assert refused.value.code is Code.SOURCE_TOO_LARGE


def test_a_huge_text_is_refused_without_counting_it_all(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = 0

    def counting(text: str) -> int:
        nonlocal counted
        counted += len(text)
        return count_tokens(text)

    monkeypatch.setattr(chunking, "count_tokens", counting)
    document = parse_text("many words " * 1_000_000, "utf-8")
    with pytest.raises(SourceRefused) as refused:
        chunk(document, DEFAULT)
    assert refused.value.code is Code.SOURCE_TOO_LARGE
    assert counted <= 3_000_000


def test_a_title_stays_with_text_that_almost_fills_a_chunk() -> None:
    for words in range(480, 500):
        sections = "\n\n".join(f"# Part {n} of it\n\n{'word ' * words}end." for n in range(3))
        chunks = chunk(markdown(sections), DEFAULT)
        assert all(piece.text.split("\n\n")[-1].startswith(("word", "end")) for piece in chunks)


def test_titles_of_several_levels_stay_together_with_their_text() -> None:
    text = "Some words of text here. " * 60
    document = markdown("\n\n".join(f"# Part {n}\n\n## Chapter\n\n### Section\n\n{text}" for n in range(8)))
    chunks = chunk(document, DEFAULT)
    assert [piece.text.startswith("Part") for piece in chunks] == [True] * 8


def test_an_item_is_kept_with_its_further_paragraphs() -> None:
    items = "\n".join(f"- Item {n} says this.\n\n  And it goes on {'for a while ' * 9}\n" for n in range(100))
    chunks = chunk(markdown(items), DEFAULT)
    assert len(chunks) > 5
    assert all(piece.text.startswith("- Item") for piece in chunks)


def test_long_code_is_cut_at_line_ends() -> None:
    lines = [f"    value_{n} = function_{n}(argument, {n})" for n in range(400)]
    chunks = chunk(markdown("```py\n" + "\n".join(lines) + "\n```"), DEFAULT)
    assert len(chunks) > 5
    found = [line for piece in chunks for line in piece.text.split("\n") if "value" in line]
    assert list(dict.fromkeys(found)) == lines


def test_each_chunk_of_a_long_table_shows_its_header() -> None:
    for row in ("| row {n} | {n} |", "| {n} | 1 | 2 | 3 |", "| 第 {n} 行的名称 | 说明 |", "| some words of {n} | x |"):
        rows = "\n".join(row.replace("{n}", str(n)) for n in range(1000))
        chunks = chunk(markdown(f"| name | value |\n|---|---|\n{rows}"), DEFAULT)
        assert len(chunks) > 10
        assert all(piece.text.startswith("| name | value |") for piece in chunks)


@pytest.mark.skipif(not SPEC.exists(), reason="needs the shared files")
@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_the_commonmark_specification(preset: Preset) -> None:
    document = parse(SPEC.read_bytes(), name=SPEC.name)
    chunks = chunk(document, preset)
    assert max(preset.measure(piece.text) for piece in chunks) <= preset.budget
    assert sum(preset.measure(piece.text) for piece in chunks) / len(chunks) > preset.budget / 2
