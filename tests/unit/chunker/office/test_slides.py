"""Presentations, made with python-pptx and then changed where it can't make what is wanted."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.oxml import parse_xml
from pptx.util import Inches

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.chunker.blocks import Document, Kind
from services.chunker.office.charts import chart_items
from services.chunker.office.content import flat
from services.chunker.office.diagrams import diagram_items
from services.chunker.office.markup import parse_xml as parse_part
from services.chunker.office.slides.presentation import parse_pptx
from tests.unit.chunker.office.packages import element, zipped

TITLE, CONTENT, TITLE_ONLY, BLANK = 0, 1, 5, 6


class Deck:
    """A presentation in the making."""

    def __init__(self) -> None:
        self.file: Any = Presentation()
        self.file.core_properties.title = ""

    def slide(self, layout: int, title: str | None = None) -> Any:
        slide = self.file.slides.add_slide(self.file.slide_layouts[layout])
        if title is not None:
            slide.shapes.title.text = title
        return slide

    def body(self, change: Callable[[str, bytes], bytes | None] = lambda _, content: content) -> bytes:
        """The file; `change` may change the content of a part, or leave it out."""
        buffer = io.BytesIO()
        self.file.save(buffer)
        with zipfile.ZipFile(buffer) as archive:
            changed = {name: change(name, archive.read(name)) for name in archive.namelist()}
        return zipped({name: content for name, content in changed.items() if content is not None})

    def parsed(self) -> Document:
        return parse_pptx(self.body())


def put(shapes: Any, text: str, left: float, top: float, width: float = 1, height: float = 0.5) -> Any:
    shape = shapes.add_textbox(Inches(left), Inches(top), Inches(width), Inches(height))
    shape.text_frame.text = text
    return shape


def texts(document: Document) -> list[str]:
    return [block.text for block in document.blocks]


def test_each_slide_is_a_section_with_its_number() -> None:
    deck = Deck()
    deck.slide(TITLE, "Ducks").placeholders[1].text = "A survey"
    put(deck.slide(TITLE_ONLY, "Habitat").shapes, "Lakes", 1, 3)
    put(deck.slide(BLANK).shapes, "Untitled", 1, 3)
    deck.slide(BLANK)
    document = deck.parsed()
    assert document.title == "Ducks"
    assert [(b.kind, b.level, b.text, b.locator.slide, b.heading_path) for b in document.blocks] == [
        (Kind.HEADING, 1, "Ducks", 1, ("Ducks",)),
        (Kind.PARAGRAPH, 0, "A survey", 1, ("Ducks",)),
        (Kind.HEADING, 2, "Habitat", 2, ("Ducks", "Habitat")),
        (Kind.PARAGRAPH, 0, "Lakes", 2, ("Ducks", "Habitat")),
        (Kind.HEADING, 2, "Slide 3", 3, ("Ducks", "Slide 3")),
        (Kind.PARAGRAPH, 0, "Untitled", 3, ("Ducks", "Slide 3")),
    ]


def test_slides_come_in_the_order_of_the_presentation() -> None:
    deck = Deck()
    for title in ("one", "two"):
        deck.slide(TITLE_ONLY, title)
    listed = deck.file.slides._sldIdLst
    listed.append(listed[0])
    assert texts(deck.parsed()) == ["two", "one"]


def test_shapes_are_read_from_top_to_bottom_and_left_to_right() -> None:
    deck = Deck()
    shapes = deck.slide(TITLE_ONLY, "Title").shapes
    put(shapes, "bottom", 1, 6)
    put(shapes, "right", 6, 2)
    put(shapes, "left", 1, 2.1)
    group = shapes.add_group_shape()
    put(group.shapes, "lower in the group", 1, 5)
    inner = group.shapes.add_group_shape()
    put(inner.shapes, "upper in the group", 1, 4)
    hidden = put(shapes, "hidden", 1, 3)
    hidden._element.nvSpPr.cNvPr.set("hidden", "1")
    expected = ["Title", "left", "right", "upper in the group", "lower in the group", "bottom"]
    assert texts(deck.parsed()) == expected


def test_placeholders_without_a_place_stand_where_their_layout_puts_them() -> None:
    deck = Deck()
    slide = deck.slide(CONTENT, "Title")
    put(slide.shapes, "under the body", 1, 7)
    put(slide.shapes, "above the body", 1, 1)
    slide.placeholders[1].text = "body"
    assert texts(deck.parsed()) == ["Title", "above the body", "- body", "under the body"]


def test_bullets_numbers_and_levels() -> None:
    deck = Deck()
    slide = deck.slide(CONTENT, "Title")
    frame = slide.placeholders[1].text_frame
    frame.text = "first"
    for text, level, mark in (
        ("inner", 1, None),
        ("plain", 0, "<a:buNone {}/>"),
        ("one", 0, '<a:buAutoNum type="arabicParenR" {}/>'),
        ("two\vwith a break", 0, '<a:buAutoNum type="arabicParenR" {}/>'),
        ("sub", 1, '<a:buAutoNum type="romanUcPeriod" {}/>'),
        ("three", 0, '<a:buAutoNum type="arabicParenR" {}/>'),
        ("new", 1, '<a:buAutoNum type="alphaLcParenBoth" startAt="3" {}/>'),
    ):
        added = frame.add_paragraph()
        added.text, added.level = text, level
        if mark:
            namespace = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
            added._p.get_or_add_pPr().append(parse_xml(mark.format(namespace)))
    assert deck.parsed().text == (
        "Title\n\n- first\n  - inner\n\nplain\n\n1) one\n2) two\n   with a break\n  I. sub\n3) three\n  (c) new"
    )


def test_tables_with_merged_cells() -> None:
    deck = Deck()
    shapes = deck.slide(TITLE_ONLY, "Title").shapes
    cells = shapes.add_table(3, 3, Inches(1), Inches(2), Inches(6), Inches(2)).table
    for row in range(3):
        for column in range(3):
            cells.cell(row, column).text = f"{row}{column}"
    cells.cell(1, 0).merge(cells.cell(2, 1))
    table = deck.parsed().blocks[1]
    assert table.kind is Kind.TABLE
    assert table.text.split("\n")[0] == "| 00 | 01 | 02 |"
    assert table.text.split("\n")[2] == "|  |  | 22 |"


def test_charts_are_tables() -> None:
    deck = Deck()
    data = CategoryChartData()
    data.categories = ["2019", "2020"]
    data.add_series("Ducks", (1.5, 2))
    data.add_series("Geese", (3, None))
    shapes = deck.slide(TITLE_ONLY, "Title").shapes
    chart = shapes.add_chart(XL_CHART_TYPE.LINE, Inches(1), Inches(2), Inches(6), Inches(3), data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Birds"
    assert texts(deck.parsed())[1:] == ["Birds", "|  | Ducks | Geese |\n| 2019 | 1.5 | 3 |\n| 2020 | 2 |  |"]


def test_values_of_charts_are_legible() -> None:
    points = (
        '<c:cat><c:numRef><c:numCache><c:formatCode>d/m/yyyy</c:formatCode><c:pt idx="0"><c:v>43831</c:v></c:pt>'
        '</c:numCache></c:numRef></c:cat><c:val><c:numCache><c:pt idx="0"><c:v>0.30000000000000004</c:v></c:pt>'
        "</c:numCache></c:val>"
    )
    root = parse_part(element("c:chartSpace", f"<c:ser>{points}</c:ser>").encode(), "chart")
    assert flat(chart_items(root)) == "Series 1; 2020-01-01, 0.3"


def test_diagrams_are_nested_lists() -> None:
    def point(identifier: str, text: str, kind: str = "node") -> str:
        inner = f"<dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t>"
        return f'<dgm:pt modelId="{identifier}" type="{kind}">{inner}</dgm:pt>'

    points = point("c", "child") + point("b", "second") + point("a", "first") + point("d", "", "doc")
    connections = "".join(
        f'<dgm:cxn srcId="{source}" destId="{target}" srcOrd="{order}"/>'
        for source, target, order in (("d", "b", 1), ("d", "a", 0), ("a", "c", 0), ("c", "a", 0))
    )
    root = parse_part(element("dgm:dataModel", f"{points}{connections}").encode(), "diagram")
    assert [(item.text, item.depth) for item in diagram_items(root)] == [("first", 0), ("child", 1), ("second", 0)]


def test_notes_follow_their_slide_and_hidden_slides_are_kept() -> None:
    deck = Deck()
    slide = deck.slide(TITLE_ONLY, "Title")
    slide.notes_slide.notes_text_frame.text = "First note.\nSecond note."
    slide._element.set("show", "0")
    deck.slide(TITLE_ONLY, "Next")
    document = deck.parsed()
    assert [(block.kind, block.text, block.locator.slide) for block in document.blocks] == [
        (Kind.HEADING, "Title", 1),
        (Kind.QUOTE, "First note.\n\nSecond note.", 1),
        (Kind.HEADING, "Next", 2),
    ]


def test_footers_are_given_once_and_dates_and_numbers_never() -> None:
    deck = Deck()
    for title in ("one", "two"):
        slide = deck.slide(TITLE_ONLY, title)
        for kind, text in (("ftr", "Company"), ("dt", "1 May"), ("sldNum", "7")):
            shape = put(slide.shapes, text, 1, 7)
            namespace = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
            shape._element.nvSpPr.nvPr.append(parse_xml(f'<p:ph type="{kind}" {namespace}/>'))
    assert texts(deck.parsed()) == ["one", "Company", "two"]


def test_what_is_missing_or_damaged_does_not_stop_the_rest() -> None:
    deck = Deck()
    for title in ("one", "two", "three"):
        put(deck.slide(CONTENT, title).shapes, f"text of {title}", 1, 6)

    def change(name: str, content: bytes) -> bytes | None:
        if name == "ppt/slides/slide1.xml" or "slideLayout2.xml" in name:
            return None
        return content[:200] if name == "ppt/slides/slide2.xml" else content

    document = parse_pptx(deck.body(change))
    assert texts(document) == ["three", "text of three"]
    assert {block.locator.slide for block in document.blocks} == {3}
    assert len(document.warnings) == 3


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda name, content: content, Code.NO_TEXT),
        (lambda name, content: None if name == "ppt/presentation.xml" else content, Code.BROKEN),
        (lambda name, content: None if name == "ppt/slides/slide1.xml" else content, Code.BROKEN),
    ],
)
def test_refusals(change: Callable[[str, bytes], bytes | None], code: Code) -> None:
    deck = Deck()
    deck.slide(BLANK)
    with pytest.raises(SourceRefused) as refused:
        parse_pptx(deck.body(change))
    assert refused.value.code is code
