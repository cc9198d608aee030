"""Whatever the document: what holds for chunks holds, and time grows with the size alone."""

from __future__ import annotations

import random
from collections.abc import Callable
from time import process_time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.chunker.blocks import Document, DocumentBuilder, Kind, pipe_row, table_pieces
from services.chunker.chunking import chunk, extents
from services.chunker.presets import PRESETS, Preset
from tests.support.chunks import assert_exact, assert_sound

WORDS = (
    *("a", "one", "two", "three", "sentences.", "Ends!", "x.y_z()", "1.2.3", "—", "\n", "<|endoftext|>"),
    *("código", "naïve", "日本語。", "中文", "👩\u200d👧", "🇩🇪", "e\u0301", "مرحبا"),
)
SIZES = (Preset("small", 24, 6), Preset("middle", 60, 12), Preset("letters", 150, 30, by_characters=True))

Part = tuple[str, int, int, int]
parts = st.lists(
    st.tuples(st.sampled_from(["heading", "minor", *Kind]), st.integers(1, 6), st.integers(1, 70), st.integers()),
    min_size=1,
    max_size=25,
)
texts = st.text(st.sampled_from("ab.!。 \n\t\u0301\u200d🇩👩🏽界)'\"=|`"), min_size=1, max_size=400)


def laid_out(description: list[Part]) -> Document:
    """The document of such parts: kind, level, words, and the seed of the words."""
    builder = DocumentBuilder()
    for kind, level, length, seed in description:
        words = random.Random(seed).choices(WORDS, k=length)
        text = " ".join(words).strip() or "x"
        if kind in ("heading", "minor"):
            builder.heading(level, " ".join(words[:8]).strip() or "x", minor=kind == "minor")
        elif kind == Kind.HEADING:
            builder.add(Kind.HEADING, " ".join(words[:8]))
        elif kind == Kind.LIST:
            builder.add(Kind.LIST, "  " * (level % 3) + ("- " if level > 2 else "  ") + text)
        elif kind == Kind.CODE:
            builder.add(Kind.CODE, "```\n" + text.replace(" ", "\n" if level > 3 else "\n\n", length // 2) + "\n```")
        elif kind == Kind.TABLE:
            rows = [pipe_row([word.strip(), "cell"]) for word in words]
            for piece in table_pieces(rows, 1, 80):
                builder.add(Kind.TABLE, piece)
        else:
            builder.add(Kind(kind), text)
    return builder.finish("t", "text/plain", None)


@pytest.mark.parametrize("preset", SIZES, ids=lambda preset: preset.name)
@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(description=parts)
def test_documents_of_any_structure(preset: Preset, description: list[Part]) -> None:
    assert_sound(laid_out(description), preset)


@pytest.mark.parametrize("kind", [Kind.PARAGRAPH, Kind.CODE, Kind.LIST, Kind.TABLE])
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    text=texts,
    seed=st.integers(1, 9),
)
def test_texts_of_any_characters(kind: Kind, text: str, seed: int) -> None:
    builder = DocumentBuilder()
    for piece in ["Title", *(text[at : at + 40 * seed] for at in range(0, len(text), 40 * seed))]:
        builder.add(kind, piece)
    document = builder.finish(None, "text/plain", None)
    for preset in SIZES:
        assert_exact(document, chunk(document, preset, None), preset)


def one(kind: Kind, text: str) -> Document:
    return many(kind, [text])


def many(kind: Kind, texts: list[str]) -> Document:
    builder = DocumentBuilder()
    for text in texts:
        builder.add(kind, text)
    return builder.finish(None, "text/plain", None)


def sections(number: int, below: str) -> Document:
    builder = DocumentBuilder()
    for place in range(number):
        builder.heading(1 + place % 3, f"Heading {place}")
        builder.add(Kind.PARAGRAPH, below)
    return builder.finish(None, "text/plain", None)


LARGE: dict[str, Callable[[int], Document]] = {
    "one line": lambda n: one(Kind.PARAGRAPH, "The cat sat on the mat, and then it went away. " * (n // 47)),
    "one word": lambda n: one(Kind.PARAGRAPH, "a" * n),
    "CJK without blanks": lambda n: one(Kind.PARAGRAPH, "词汇" * (n // 6)),
    "right to left": lambda n: one(Kind.PARAGRAPH, "وهي تكتب من اليمين إلى اليسار " * (n // 55)),
    "joined emoji": lambda n: one(Kind.PARAGRAPH, "👩‍👩‍👧‍👦🏳️‍🌈👍🏽🇩🇪" * (n // 65)),
    "marks": lambda n: one(Kind.PARAGRAPH, "a" + "\u0301" * (n // 2)),
    "special tokens": lambda n: one(Kind.PARAGRAPH, "<|endoftext|>" * (n // 13)),
    "dots": lambda n: one(Kind.PARAGRAPH, "." * n),
    "blanks within": lambda n: one(Kind.PARAGRAPH, "x. " + " " * n + "y"),
    "blank lines within": lambda n: one(Kind.CODE, "x" * 9000 + "\n" * n + "y"),
    "headings alone": lambda n: sections(n // 20, ""),
    "headings": lambda n: sections(n // 40, "Text."),
    "tiny paragraphs": lambda n: many(Kind.PARAGRAPH, ["x"] * (n // 10)),
    "items of many paragraphs": lambda n: many(Kind.LIST, ["- x", *["  y"] * (n // 10)]),
    "nested items": lambda n: many(Kind.LIST, [" " * (place % 200) + "- x" for place in range(n // 100)]),
    "rows": lambda n: many(Kind.TABLE, table_pieces([f"| {row} | {row * 7} |" for row in range(n // 15)], 1)),
    "lines of code": lambda n: one(Kind.CODE, "\n".join(f"value_{row} = {row}" for row in range(n // 15))),
}


@pytest.mark.parametrize("make", LARGE.values(), ids=LARGE)
def test_time_grows_with_the_size_alone(make: Callable[[int], Document]) -> None:
    # Quadratic work would take 64 times as long for 8 times the text.
    small, large = make(50_000), make(400_000)
    assert seconds(large) < 24 * max(seconds(small), 0.004)
    assert_exact(large, chunk(large, PRESETS["default"], None), PRESETS["default"])


def seconds(document: Document) -> float:
    """Processor time of the faster of two rounds."""
    times = []
    for _ in range(2):
        started = process_time()
        extents(document, PRESETS["default"], None)
        times.append(process_time() - started)
    return min(times)
