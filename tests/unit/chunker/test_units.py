from services.chunker.blocks import Document, DocumentBuilder, Kind
from services.chunker.presets import Preset
from services.chunker.units import Cut, Unit, cut_keys, make_units

PRESET = Preset("test", 40, 4)


def of(*parts: tuple[Kind, str, int]) -> Document:
    builder = DocumentBuilder()
    for kind, text, level in parts:
        if level:
            builder.heading(level, text)
        else:
            builder.add(kind, text)
    return builder.finish(None, "text/plain", None)


def texts(document: Document, units: list[Unit]) -> list[str]:
    return [document.text[unit.start : unit.end] for unit in units]


def test_blocks_that_fit_are_units() -> None:
    document = of((Kind.HEADING, "A", 2), (Kind.PARAGRAPH, "text", 0), (Kind.LIST, "- x", 0), (Kind.LIST, "- y", 0))
    units = make_units(document, PRESET)
    assert texts(document, units) == ["A", "text", "- x", "- y"]
    assert [unit.cut for unit in units] == [2, Cut.AFTER_HEADING, Cut.BLOCK, Cut.ITEM]


def test_an_item_and_its_paragraphs_are_one_unit_if_they_fit() -> None:
    parts = (Kind.LIST, "- x", 0), (Kind.LIST, "  more of x", 0), (Kind.LIST, "  - inner", 0), (Kind.LIST, "- y", 0)
    document = of(*parts)
    assert texts(document, make_units(document, PRESET)) == ["- x\n  more of x", "  - inner", "- y"]


def test_long_blocks_are_cut_by_kind() -> None:
    prose = of((Kind.PARAGRAPH, "One sentence of some words. " * 10, 0))
    assert {unit.cut for unit in make_units(prose, PRESET)[1:]} == {Cut.SENTENCE}
    code = of((Kind.CODE, "```\n" + "a = b. C = d\n\n" * 20 + "```", 0))
    assert set(texts(code, make_units(code, PRESET))) == {"```", "a = b. C = d"}
    word = of((Kind.PARAGRAPH, "a" * 2000, 0))
    assert {unit.cut for unit in make_units(word, PRESET)[1:]} == {Cut.FRAGMENT}


def test_text_that_fits_but_not_under_its_headings_is_cut() -> None:
    text = "A sentence of six words, this. " * 5
    alone, under = of((Kind.PARAGRAPH, text, 0)), of((Kind.HEADING, "The title here", 1), (Kind.PARAGRAPH, text, 0))
    assert len(make_units(alone, PRESET)) == 1
    assert len(make_units(under, PRESET)) > 2


def test_keys_order_by_rank_then_by_text() -> None:
    document = of((Kind.HEADING, "A", 1), (Kind.PARAGRAPH, "x", 0), (Kind.PARAGRAPH, "y", 0), (Kind.HEADING, "B", 2))
    units = make_units(document, PRESET)
    keys = cut_keys(document.text, units)
    assert keys[0] < keys[3] < keys[2] < keys[1]
    other = of((Kind.PARAGRAPH, "before", 0), (Kind.PARAGRAPH, "y", 0))
    assert cut_keys(other.text, make_units(other, PRESET))[1] == keys[2]
