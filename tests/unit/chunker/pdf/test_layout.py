"""Reading order, paragraphs, headings, lists and code of drawn PDFs."""

from __future__ import annotations

from services.chunker.blocks import Block, Kind
from services.chunker.pdf.document import parse_pdf
from tests.unit.chunker.pdf.drawn import Drawn

PROSE = (
    "The keeper of the light climbed the stairs each evening before the",
    "sun went down, and lit the lamp whose beam could be seen from ships",
    "that were still a day away.",
)


def blocks(drawn: Drawn) -> list[Block]:
    return parse_pdf(drawn.body()).blocks


def texts(drawn: Drawn) -> list[str]:
    return [block.text for block in blocks(drawn)]


def side(name: str, count: int = 20) -> list[str]:
    return [f"{name} column of running text, line {number}" for number in range(count)]


def test_columns_are_read_one_after_the_other() -> None:
    drawn = Drawn()
    page = drawn.page().text(100, 50, "A title that stands over both columns", 18, "B")
    page.lines(50, 90, side("left")).lines(320, 90, side("right"))
    text = " ".join(texts(drawn))
    assert " ".join(side("left") + side("right")) in text
    assert text.startswith("A title that stands over both columns")


def test_columns_that_the_file_draws_line_by_line() -> None:
    drawn = Drawn()
    page = drawn.page()
    for number, (left, right) in enumerate(zip(side("left"), side("right"), strict=True)):
        page.text(50, 90 + 12 * number, left).text(320, 90 + 12 * number, right)
    assert " ".join(side("left") + side("right")) in " ".join(texts(drawn))


def test_three_columns_below_a_paragraph_over_all_of_them() -> None:
    drawn = Drawn()
    page = drawn.page().text(50, 60, "This one line of the introduction is as wide as all of the columns are " * 2, 7)
    for x, name in ((50, "first"), (230, "second"), (410, "third")):
        page.lines(x, 90, side(name), 8)
    assert " ".join(side("first") + side("second") + side("third")) in " ".join(texts(drawn))


def test_lines_become_paragraphs() -> None:
    drawn = Drawn()
    drawn.page().lines(50, 60, [*PROSE]).lines(50, 120, [*PROSE])
    assert texts(drawn) == [" ".join(PROSE)] * 2


def test_an_indent_begins_a_paragraph() -> None:
    drawn = Drawn()
    page = drawn.page()
    for number in range(3):
        page.text(65, 60 + 36 * number, PROSE[0]).lines(50, 72 + 36 * number, [*PROSE[1:2], PROSE[0][:-1] + "e."])
    assert len(texts(drawn)) == 3


def test_a_sentence_goes_on_over_pages() -> None:
    drawn = Drawn()
    drawn.page().lines(50, 700, [*PROSE[:2]])
    drawn.page().lines(50, 60, [PROSE[2]])
    (paragraph,) = blocks(drawn)
    assert paragraph.text == " ".join(PROSE)
    assert paragraph.locator.page == 1


def test_a_note_at_the_foot_does_not_break_the_sentence() -> None:
    drawn = Drawn()
    drawn.page().lines(50, 600, [*PROSE[:2]]).text(50, 720, "1 A note in small print.", 7)
    drawn.page().lines(50, 60, [PROSE[2]])
    assert texts(drawn) == [" ".join(PROSE), "1 A note in small print."]


def test_divided_words_are_put_together() -> None:
    drawn = Drawn()
    drawn.page().lines(
        50,
        60,
        [
            "Such a long-term plan was made by all of the people in the munic-",
            "ipal council of the town, and it was written down as a long-",
            "term plan, with the number of the form SKU-88-",
            "4711 at its head.",
        ],
    )
    (text,) = texts(drawn)
    assert "the municipal council" in text
    assert "as a long-term plan" in text
    assert "SKU-88-4711 at" in text


def test_headings_by_size_have_levels_and_paths() -> None:
    drawn = Drawn()
    page = drawn.page().text(50, 50, "Handbook", 24, "B").lines(50, 90, [*PROSE])
    page.text(50, 150, "1.1 First part", 14, "B").lines(50, 175, [*PROSE])
    page.text(50, 240, "1.2 Second part", 14, "B").lines(50, 265, [*PROSE])
    found = blocks(drawn)
    assert [(b.text, b.level) for b in found if b.kind is Kind.HEADING] == [
        ("Handbook", 1),
        ("1.1 First part", 2),
        ("1.2 Second part", 2),
    ]
    assert found[-1].heading_path == ("Handbook", "1.2 Second part")


def test_headings_of_the_outline_need_no_size() -> None:
    drawn = Drawn(outline=[("Stairs", 0), ("Lamp", 1)])
    drawn.page().text(50, 50, "1 Stairs").lines(50, 80, [*PROSE])
    drawn.page().text(50, 50, "2 Lamp").lines(50, 80, [*PROSE])
    assert [b.text for b in blocks(drawn) if b.kind is Kind.HEADING] == ["1 Stairs", "2 Lamp"]


def test_bold_lines_above_text_are_headings_and_bold_words_in_it_are_not() -> None:
    drawn = Drawn()
    page = drawn.page().text(50, 50, "Duties", 10, "B").lines(50, 70, [*PROSE])
    page.text(50, 120, "Note:", 10, "B").text(82, 120, PROSE[0]).lines(50, 132, [*PROSE[1:]])
    assert [b.text for b in blocks(drawn) if b.kind is Kind.HEADING] == ["Duties"]


def test_items_of_lists() -> None:
    drawn = Drawn()
    page = drawn.page().text(50, 50, "What to bring:")
    page.text(60, 70, "•").text(72, 70, "a lamp with enough oil for the whole of the long winter night").text(
        72, 82, "and a day more"
    )
    page.text(60, 94, "•").text(72, 94, "matches").text(60, 120, "1.").text(75, 120, "Climb").text(60, 132, "2. Light")
    found = [b.text for b in blocks(drawn) if b.kind is Kind.LIST]
    assert found == [
        "- a lamp with enough oil for the whole of the long winter night and a day more",
        "- matches",
        "1. Climb",
        "2. Light",
    ]


def test_code_keeps_its_lines_and_indents() -> None:
    drawn = Drawn()
    page = drawn.page().lines(50, 60, [*PROSE])
    page.text(60, 110, "def light(lamp):", 9, "M").text(60 + 4 * 5.4, 121, "lamp.on = True", 9, "M")
    page.text(60, 143, "light(home)", 9, "M").lines(50, 170, [*PROSE])
    (code,) = [b.text for b in blocks(drawn) if b.kind is Kind.CODE]
    assert code == "```\ndef light(lamp):\n    lamp.on = True\n\nlight(home)\n```"


def test_running_headers_and_page_numbers_go() -> None:
    drawn = Drawn()
    for number in range(4):
        page = drawn.page().text(50, 30, f"Handbook of lights {number + 1}", 8).text(300, 770, str(number + 1), 8)
        page.lines(50, 80, [f"{name} of page {'abcd'[number]}." for name in ("Start", "Middle", "End")])
    text = "\n".join(texts(drawn))
    assert text.count("Handbook of lights") == 1
    assert text.startswith("Start of page a.")
    assert not any(line.strip().isdigit() for line in text.splitlines())


def test_rows_of_a_table_at_the_edge_stay() -> None:
    drawn = Drawn()
    for number in range(4):
        page = drawn.page()
        for row in range(5):
            page.text(50, 60 + 14 * row, f"Lamp {number * 5 + row}").text(150, 60 + 14 * row, f"hall {row}")
    text = " ".join(texts(drawn))
    assert all(f"Lamp {number}" in text for number in range(20))


def test_numbers_at_the_edge_that_are_no_page_numbers_stay() -> None:
    drawn = Drawn()
    for number in range(4):
        page = drawn.page()
        for row in range(5):
            page.text(50, 60 + 14 * row, f"{number}{row}1").text(150, 60 + 14 * row, f"{number}{row}2")
    assert "302" in " ".join(texts(drawn))


def test_turned_text_and_turned_pages() -> None:
    drawn = Drawn()
    page = drawn.page("/Rotate 90")
    for number, line in enumerate(PROSE):
        page.text(100 + 12 * number, 700, line, turn="0 1 -1 0")
    upright = drawn.page().lines(50, 60, [*PROSE])
    upright.text(20, 500, "Stamp in the margin", 14, turn="0 1 -1 0")
    found = blocks(drawn)
    assert [b.text for b in found] == [" ".join(PROSE), " ".join(PROSE), "Stamp in the margin"]
    assert found[-1].kind is Kind.PARAGRAPH


def test_a_raised_number_is_no_part_of_the_word() -> None:
    drawn = Drawn()
    drawn.page().text(50, 60, "the lamp").text(50 + 37.8, 56, "3", 6).text(92, 60, "and CO").text(123.5, 62, "2", 6)
    assert texts(drawn) == ["the lamp 3 and CO2"]
