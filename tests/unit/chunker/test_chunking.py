from itertools import pairwise
from pathlib import Path
from time import perf_counter

import pytest

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.chunker.blocks import Document, Kind
from services.chunker.chunking import Chunk, chunk
from services.chunker.parsing import parse
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


def test_an_edited_paragraph_changes_few_chunks() -> None:
    paragraphs = [
        f"Paragraph {n} is about thing {n * 7919 % 1000}. " + "It goes on for a while. " * (n % 9) for n in range(3000)
    ]
    before = {piece.content_hash for piece in chunk(markdown("\n\n".join(paragraphs)), DEFAULT)}
    assert len(before) > 200
    embedded = []
    for place in range(100, 2900, 50):
        edited = list(paragraphs)
        edited[place] = "Now it says something else, and at another length than before, as edits do."
        after = {piece.content_hash for piece in chunk(markdown("\n\n".join(edited)), DEFAULT)}
        embedded.append(len(after - before))
    assert sum(count <= 3 for count in embedded) >= 0.95 * len(embedded)
    assert sum(embedded) <= 2 * len(embedded)


def test_the_limit_of_tokens() -> None:
    document = markdown("word " * 1000)
    tokens = count_tokens(document.text)
    assert chunk(document, DEFAULT, tokens)
    with pytest.raises(SourceRefused) as refused:
        chunk(document, DEFAULT, tokens - 1)
    assert refused.value.code is Code.SOURCE_TOO_LARGE


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("The cat sat on the mat, and then it went away. " * 21_000, id="sentences"),
        pytest.param("a" * 1_000_000, id="one word"),
        pytest.param("词" * 330_000, id="CJK without marks"),
        pytest.param("\n\n".join(f"# Heading {n}" for n in range(10_000)), id="headings alone"),
        pytest.param("\n\n".join(f"# Heading {n}\n\nText of {n}." for n in range(10_000)), id="headings"),
        pytest.param("x\n\n" * 100_000, id="tiny paragraphs"),
        pytest.param("same line\n" * 100_000, id="same lines"),
    ],
)
def test_large_inputs_take_linear_time(body: str) -> None:
    started = perf_counter()
    chunks = chunk(markdown(body), DEFAULT, None)
    assert perf_counter() - started < 10
    assert all(piece.token_count <= DEFAULT.budget for piece in chunks)
    assert _coverage(chunks)


def _coverage(chunks: list[Chunk]) -> bool:
    return all(after.start <= before.end + 2 for before, after in pairwise(chunks))


@pytest.mark.skipif(not SPEC.exists(), reason="needs the shared files")
@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_the_commonmark_specification(preset: Preset) -> None:
    document = parse(SPEC.read_bytes(), name=SPEC.name)
    chunks = chunk(document, preset)
    assert max(preset.measure(piece.text) for piece in chunks) <= preset.budget
    assert sum(preset.measure(piece.text) for piece in chunks) / len(chunks) > preset.budget / 2
