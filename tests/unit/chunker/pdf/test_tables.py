"""Tables of drawn PDFs, with rules and without."""

from __future__ import annotations

from collections.abc import Sequence

from services.chunker.blocks import Kind
from services.chunker.pdf.document import parse_pdf
from tests.unit.chunker.pdf.drawn import Drawn, Page

ROWS = (("Code", "Place", "Expected", "Found"), ("SKU-1", "A-12", "450", ""), ("SKU-2", "", "780", "778"))


def tables(drawn: Drawn) -> list[str]:
    return [block.text for block in parse_pdf(drawn.body()).blocks if block.kind is Kind.TABLE]


def cells(page: Page, rows: Sequence[Sequence[str]], top: float = 114, left: float = 60, width: float = 100) -> None:
    for number, row in enumerate(rows):
        for column, text in enumerate(row):
            page.text(left + width * column, top + 20 * number, text)


def grid(page: Page, xs: Sequence[float], ys: Sequence[float]) -> None:
    for x in xs:
        page.rule(x, ys[0], x, ys[-1])
    for y in ys:
        page.rule(xs[0], y, xs[-1], y)


def test_a_ruled_table_keeps_empty_cells() -> None:
    drawn = Drawn()
    page = drawn.page().text(50, 60, "A sentence that stands above the table.")
    cells(page, ROWS)
    grid(page, (50, 150, 250, 350, 450), (100, 120, 140, 160))
    assert tables(drawn) == ["| Code | Place | Expected | Found |\n| SKU-1 | A-12 | 450 |  |\n| SKU-2 |  | 780 | 778 |"]
    assert parse_pdf(drawn.body()).blocks[0].text == "A sentence that stands above the table."


def test_the_lines_of_a_cell_are_joined() -> None:
    drawn = Drawn()
    page = drawn.page()
    cells(page, (("Part", "Use"), ("Lamp", "lights the way of"), ("", "")))
    page.text(160, 146, "ships at night").text(60, 174, "Oil").text(160, 174, "burns")
    grid(page, (50, 150, 280), (100, 120, 160, 180))
    assert tables(drawn) == ["| Part | Use |\n| Lamp | lights the way of ships at night |\n| Oil | burns |"]


def test_merged_cells_stand_once() -> None:
    drawn = Drawn()
    page = (
        drawn.page().text(60, 114, "Both years of the survey together").text(60, 134, "Region").text(160, 134, "2022")
    )
    page.text(260, 134, "2023").text(60, 154, "North").text(160, 154, "12").text(260, 154, "13")
    grid(page, (50, 350), (100, 120, 140, 160))
    page.rule(150, 120, 150, 160).rule(250, 120, 250, 160)
    (table,) = tables(drawn)
    assert table.splitlines() == [
        "| Both years of the survey together |  |  |",
        "| Region | 2022 | 2023 |",
        "| North | 12 | 13 |",
    ]


def test_rows_that_no_rule_parts() -> None:
    drawn = Drawn()
    page = drawn.page()
    cells(page, (*ROWS, ("SKU-3", "B-07", "12", "12"), ("SKU-4", "B-08", "13", "13")))
    grid(page, (50, 150, 250, 350, 450), (100, 120))
    for x in (50, 150, 250, 350, 450):
        page.rule(x, 120, x, 200)
    page.rule(50, 200, 450, 200)
    (table,) = tables(drawn)
    assert table.splitlines()[1:] == [
        "| SKU-1 | A-12 | 450 |  |",
        "| SKU-2 |  | 780 | 778 |",
        "| SKU-3 | B-07 | 12 | 12 |",
        "| SKU-4 | B-08 | 13 | 13 |",
    ]


def test_a_table_without_rules() -> None:
    drawn = Drawn()
    page = drawn.page().text(
        50, 60, "A sentence that stands above the table and is much wider than one of its columns."
    )
    cells(page, (*ROWS, ("SKU-3", "B-07", "12", "12")))
    (table,) = tables(drawn)
    assert table.splitlines() == [
        "| Code | Place | Expected | Found |",
        "| SKU-1 | A-12 | 450 |  |",
        "| SKU-2 |  | 780 | 778 |",
        "| SKU-3 | B-07 | 12 | 12 |",
    ]


def test_a_table_in_one_of_two_columns() -> None:
    drawn = Drawn()
    page = drawn.page()
    page.lines(50, 60, [f"left text of the paper that runs on, line {n}" for n in range(12)])
    cells(page, (("Model", "Recall", "Rank"), ("First", "0.71", "0.35"), ("Next", "0.82", "0.44")), 220, 50, 80)
    page.lines(320, 60, [f"right text of the paper that runs on, line {n}" for n in range(30)])
    assert tables(drawn) == ["| Model | Recall | Rank |\n| First | 0.71 | 0.35 |\n| Next | 0.82 | 0.44 |"]


def test_a_long_table_repeats_its_header() -> None:
    drawn = Drawn()
    for page_number in range(2):
        page = drawn.page()
        rows = [
            ("Code", "Place", "Count"),
            *((f"SKU-{page_number}{n:02d}", f"shelf {n} of the long hall", str(n)) for n in range(30)),
        ]
        cells(page, rows, 60, 60, 180)
    found = tables(drawn)
    assert len(found) > 2
    assert all(table.startswith("| Code | Place | Count |\n") for table in found)


def test_a_page_laid_out_with_rules_is_no_table() -> None:
    drawn = Drawn()
    page = drawn.page().text(60, 65, "Aside")
    page.lines(160, 65, [f"A long text in a frame beside a narrow one, line {n} of it" for n in range(40)])
    grid(page, (50, 150, 560), (50, 560))
    assert tables(drawn) == []


def test_numbered_items_are_no_table() -> None:
    drawn = Drawn()
    page = drawn.page()
    for number in range(1, 5):
        page.text(50, 60 + 14 * number, f"{number}.").text(80, 60 + 14 * number, f"Step {'abcd'[number - 1]}")
    found = parse_pdf(drawn.body()).blocks
    assert [block.kind for block in found] == [Kind.LIST] * 4
    assert found[0].text == "1. Step a"
