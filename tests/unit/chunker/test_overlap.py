import pytest

from services.chunker.blocks import Document, DocumentBuilder, Kind
from services.chunker.overlap import find_overlap
from services.chunker.presets import Preset
from services.chunker.units import make_units

PRESET = Preset("test", 60, 12)


def of(*parts: tuple[Kind, str]) -> Document:
    builder = DocumentBuilder()
    for kind, text in parts:
        if kind is Kind.HEADING:
            builder.heading(1, text)
        else:
            builder.add(kind, text)
    return builder.finish(None, "text/plain", None)


def repeated(document: Document, preset: Preset = PRESET) -> str:
    """What a chunk that begins with the last block repeats."""
    units = make_units(document, preset)
    first = len(units) - 1
    return document.text[find_overlap(document, units, first, preset).start : units[first].start].strip()


LONG = "The first sentence is a long one that says a lot of things about very little. The last is short."


def test_whole_blocks_that_fit() -> None:
    document = of((Kind.PARAGRAPH, LONG), (Kind.LIST, "- one"), (Kind.LIST, "- two"), (Kind.PARAGRAPH, "new"))
    assert repeated(document).startswith("- one\n- two")


def test_the_last_sentence_of_prose_that_does_not_fit() -> None:
    assert repeated(of((Kind.PARAGRAPH, LONG), (Kind.PARAGRAPH, "new"))) == "The last is short."


def test_the_last_words_of_a_sentence_that_does_not_fit() -> None:
    words = repeated(of((Kind.PARAGRAPH, "many words in a row " * 8), (Kind.PARAGRAPH, "new")))
    assert words
    assert ("many words in a row " * 8).strip().endswith(words)


@pytest.mark.parametrize("kind", [Kind.CODE, Kind.TABLE, Kind.LIST])
def test_nothing_of_what_must_not_be_cut(kind: Kind) -> None:
    assert repeated(of((kind, LONG), (Kind.PARAGRAPH, "new"))) == ""


def test_nothing_across_a_heading() -> None:
    assert repeated(of((Kind.PARAGRAPH, "Short."), (Kind.HEADING, "Next"))) == ""
    assert repeated(of((Kind.PARAGRAPH, "Short."), (Kind.HEADING, "Next"), (Kind.PARAGRAPH, "new"))) == "Next"


def test_nothing_where_a_preset_has_none() -> None:
    assert repeated(of((Kind.PARAGRAPH, "Short."), (Kind.PARAGRAPH, "new")), Preset("none", 60, 0)) == ""
