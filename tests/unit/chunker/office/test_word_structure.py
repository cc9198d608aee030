"""Headings, lists and tables of Word documents."""

from services.chunker.blocks import Kind
from services.chunker.office.word.document import parse_docx
from tests.unit.chunker.office.packages import cell, docx, paragraph, row, styled, table

STYLES = """
<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/>
  <w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Kapitel"><w:name w:val="Kapitel"/><w:basedOn w:val="berschrift1"/></w:style>
<w:style w:type="paragraph" w:styleId="Inhalt"><w:name w:val="TOC Heading"/><w:basedOn w:val="berschrift1"/>
  <w:pPr><w:outlineLvl w:val="9"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="Unter"><w:name w:val="Subtitle"/><w:basedOn w:val="Titel"/></w:style>
<w:style w:type="paragraph" w:styleId="A"><w:name w:val="A"/><w:basedOn w:val="B"/></w:style>
<w:style w:type="paragraph" w:styleId="B"><w:name w:val="B"/><w:basedOn w:val="A"/></w:style>
<w:style w:type="paragraph" w:styleId="Zitat"><w:name w:val="Quote"/></w:style>
<w:style w:type="paragraph" w:styleId="Liste"><w:name w:val="List Number"/>
  <w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr></w:style>
"""
NUMBERING = """
<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="x"/></w:lvl>
  <w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="2">
  <w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
  <w:lvl w:ilvl="1"><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/></w:lvl>
  <w:lvl w:ilvl="2"><w:numFmt w:val="upperRoman"/><w:lvlText w:val="(%3)"/></w:lvl>
  <w:lvl w:ilvl="3"><w:numFmt w:val="none"/><w:lvlText w:val=""/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>
<w:num w:numId="2"><w:abstractNumId w:val="2"/></w:num>
<w:num w:numId="3"><w:abstractNumId w:val="2"/>
  <w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num>
"""


def item(text: str, number: int, level: int = 0) -> str:
    return paragraph(text, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')


def test_headings_by_style_in_any_language() -> None:
    body = (
        styled("Buch", "Titel")
        + styled("Erster Teil", "Unter")
        + styled("Inhalt", "Inhalt")
        + styled("Eins", "Kapitel")
        + styled("Text", "A")
        + styled("Zitat", "Zitat")
        + paragraph("Zwei", '<w:outlineLvl w:val="1"/>')
        + styled("Drei", "Heading3")
        + paragraph("Kein Titel", '<w:pStyle w:val="Kapitel"/><w:outlineLvl w:val="9"/>')
    )
    document = parse_docx(docx(body, styles=STYLES))
    assert [(block.kind, block.level, block.text) for block in document.blocks] == [
        (Kind.HEADING, 1, "Buch"),
        (Kind.PARAGRAPH, 0, "Erster Teil"),
        (Kind.PARAGRAPH, 0, "Inhalt"),
        (Kind.HEADING, 1, "Eins"),
        (Kind.PARAGRAPH, 0, "Text"),
        (Kind.QUOTE, 0, "Zitat"),
        (Kind.HEADING, 2, "Zwei"),
        (Kind.HEADING, 3, "Drei"),
        (Kind.PARAGRAPH, 0, "Kein Titel"),
    ]
    assert document.blocks[-1].heading_path == ("Eins", "Zwei", "Drei")
    assert document.title == "Buch"


def test_the_title_comes_from_the_properties_if_they_have_one() -> None:
    core = '<p xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{}</dc:title></p>'
    for given, title in (("Handbook", "Handbook"), ("Microsoft Word - draft.doc", "draft.doc"), ("Untitled", "One")):
        body = docx(styled("One", "Heading1"), parts={"docProps/core.xml": core.format(given)})
        assert parse_docx(body).title == title


def test_a_paragraph_in_the_style_of_a_heading_is_text_when_it_is_long() -> None:
    document = parse_docx(docx(styled("word " * 100, "Heading2")))
    assert document.blocks[0].kind is Kind.PARAGRAPH


def test_lists_have_the_markers_that_word_shows() -> None:
    body = (
        item("bullet", 1)
        + item("inner", 1, 1)
        + item("three", 2)
        + item("letter", 2, 1)
        + item("roman", 2, 2)
        + item("unmarked", 2, 3)
        + item("", 2)
        + styled("by style", "Liste")
        + item("first again", 3)
        + item("second", 3)
        + item("not in a list", 0)
    )
    document = parse_docx(docx(body, styles=STYLES, numbering=NUMBERING))
    assert document.text == (
        "- bullet\n  - inner\n3. three\n  3.a) letter\n    (I) roman\n\nunmarked\n\n"
        "5. by style\n1. first again\n2. second\n\nnot in a list"
    )


def test_merged_cells_hold_their_text_once_and_columns_stay_in_line() -> None:
    start, goes_on = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    body = table(
        row(cell(paragraph("A"), start), cell(paragraph("wide"), '<w:gridSpan w:val="2"/>')),
        row(cell(paragraph(""), goes_on), "b", "c"),
        row("d", "e", properties='<w:gridBefore w:val="1"/>'),
    )
    assert parse_docx(docx(body)).text == "| A | wide |  |\n|  | b | c |\n|  | d | e |"


def test_a_long_table_repeats_its_header() -> None:
    rows = [row("Name", "Value", properties="<w:tblHeader/>"), row("x", "y", properties="<w:tblHeader/>")]
    document = parse_docx(docx(table(*rows, *(row(f"key {n}", "value " * 10) for n in range(60)))))
    assert len(document.blocks) > 2
    assert all(block.text.startswith("| Name | Value |\n| x | y |\n| key") for block in document.blocks)
    assert document.text.count("| key ") == 60


def test_lists_and_tables_in_cells_stay_on_one_line() -> None:
    inner = table(row("1", "2"), row("3", "4"))
    body = table(row(cell(item("a", 1) + item("b", 1)), "c|d"), row(cell(paragraph("see") + inner), "e"))
    assert parse_docx(docx(body, numbering=NUMBERING)).text == "| - a - b | c\\|d |\n| see 1, 2; 3, 4 | e |"


def test_tables_of_one_column_or_with_long_cells_are_layout() -> None:
    frame = table(row(cell(styled("Heading", "Heading1") + paragraph("text") + table(row("a", "b")))))
    long = table(row(cell(paragraph("word " * 500) + paragraph("end")), "side"))
    document = parse_docx(docx(frame + long))
    assert [block.kind for block in document.blocks] == [
        Kind.HEADING,
        Kind.PARAGRAPH,
        Kind.TABLE,
        *[Kind.PARAGRAPH] * 3,
    ]
    assert document.blocks[-1].heading_path == ("Heading",)


def test_lines_that_stand_side_by_side_in_cells_become_rows() -> None:
    labels = "".join(map(paragraph, ("", "Income", "Tax", "Net")))
    values = "".join(map(paragraph, ("€", "100", "20", "80", "")))
    body = table(row("", "2006"), row(cell(labels), cell(values)))
    assert parse_docx(docx(body)).text == "|  | 2006 |\n|  | € |\n| Income | 100 |\n| Tax | 20 |\n| Net | 80 |"
