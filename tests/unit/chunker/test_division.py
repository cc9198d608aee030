from itertools import pairwise

from services.chunker.blocks import Document, DocumentBuilder, Kind
from services.chunker.division import Division
from services.chunker.presets import Preset
from services.chunker.units import make_units

PRESET = Preset("test", 100, 0)


def runs(document: Document) -> list[str]:
    """The texts of the runs."""
    units = make_units(document, PRESET)
    found = Division(document.text, units, PRESET).runs()
    assert [first for first, _ in found] == [0, *(last for _, last in found[:-1])]
    assert found[-1][1] == len(units)
    return [document.text[units[first].start : units[last - 1].end] for first, last in found]


def of(*sections: tuple[int, str, int]) -> Document:
    """Sections of a level, a name, and so many tokens of text in paragraphs of ten."""
    builder = DocumentBuilder()
    for level, name, tokens in sections:
        builder.heading(level, name)
        for place in range(tokens // 10):
            builder.add(Kind.PARAGRAPH, f"{name} {place} " + "word " * 5)
    return builder.finish(None, "text/plain", None)


def test_sections_that_fit_are_not_cut() -> None:
    names = "ABCDEFGH"
    found = runs(of(*((2, name, 80) for name in names)))
    assert [text[0] for text in found] == list(names)


def test_small_sections_share_chunks_under_their_heading() -> None:
    found = runs(
        of((1, "A", 10), *((2, f"a{n}", 20) for n in range(6)), (1, "B", 10), *((2, f"b{n}", 20) for n in range(6)))
    )
    assert len(found) <= 6
    assert any(text.startswith("B") for text in found)


def test_a_scrap_of_a_section_joins_a_neighbour() -> None:
    found = runs(of((1, "A", 60), (2, "tiny", 0), (2, "B", 80)))
    assert [text.split()[0] for text in found] == ["A", "tiny"]


def test_neighbours_within_a_section_are_put_together() -> None:
    found = runs(of((1, "A", 3000)))
    sizes = [PRESET.measure(text) for text in found]
    assert all(before + after > PRESET.budget - 4 for before, after in pairwise(sizes))
