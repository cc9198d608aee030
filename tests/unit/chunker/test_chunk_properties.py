"""Whatever the text: nothing lost, nothing over budget, order and ranges exact, the same result each time."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.chassis.errors import SourceRefused
from services.chunker.blocks import Document
from services.chunker.chunking import chunk
from services.chunker.parsing import parse
from services.chunker.presets import Preset
from tests.support.chunks import assert_exact

SAMPLES = (
    "The quick brown fox jumps over the lazy dog. ",
    "これは文です。とても長い文章ですね！",
    "فهذه جملة عربية، وهي تكتب من اليمين إلى اليسار. ",
    "זה משפט בעברית. ",
    "👩‍👩‍👧‍👦🏳️‍🌈👍🏽🇩🇪🇫🇷",
    "<|endoftext|>",
    "é́́́",
    "word" * 30,
    "      ",
    "snake_case.a.b.C E1234 1.2.3\n",
    "\n\n",
)
BLOCKS = (
    "# Heading {n}\n\n",
    "### Sub {n}\n\n",
    "- item {n}\n",
    "```py\nx = {n}\n\ny = 2\n```\n\n",
    "| a | b |\n|---|---|\n| {n} | 2 |\n\n",
    "> quote {n}\n\n",
    "Paragraph {n} with words. And more of them.\n\n",
)
PRESETS = (Preset("small", 24, 6), Preset("middle", 100, 20), Preset("letters", 120, 0, by_characters=True))

texts = st.lists(st.one_of(st.sampled_from(SAMPLES), st.text(max_size=40)), max_size=60).map("".join)
files = st.lists(st.tuples(st.sampled_from((*BLOCKS, *SAMPLES)), st.integers(0, 999)), min_size=1, max_size=60).map(
    lambda pieces: "".join(text.replace("{n}", str(n)) for text, n in pieces)
)


def _document(source: str, name: str) -> Document | None:
    try:
        return parse(source.encode("utf-8", "surrogatepass").replace(b"\x1b", b""), name=name, charset="utf-8")
    except SourceRefused:
        return None


def _check(document: Document, preset: Preset) -> None:
    chunks = chunk(document, preset)
    assert_exact(document, chunks, preset)
    assert chunk(document, preset) == chunks


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(source=texts)
def test_any_plain_text(preset: Preset, source: str) -> None:
    document = _document(source, "a.txt")
    if document is not None:
        _check(document, preset)


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(source=files)
def test_any_markdown(preset: Preset, source: str) -> None:
    document = _document(source, "a.md")
    if document is not None:
        assert [document.text[b.start : b.end] for b in document.blocks] == [b.text for b in document.blocks]
        _check(document, preset)
