"""What is text in a Word document, and what is not."""

import pytest

from services.chunker.blocks import Kind
from services.chunker.office.content import Paragraph
from services.chunker.office.margins import margins
from services.chunker.office.word.document import parse_docx
from tests.unit.chunker.office.packages import docx, element, paragraph, row, run, styled, table

MONO = '<w:rFonts w:ascii="Courier New" w:hAnsi="Courier New"/>'
SYMBOL = '<w:rFonts w:ascii="Symbol"/>'
NOT_HIDDEN = '<w:vanish w:val="0"/>'


def texts(body: str, **related: str) -> list[str]:
    return [block.text for block in parse_docx(docx(body, **related)).blocks]


def field(code: str, result: str) -> str:
    return (
        f'<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>{code}</w:instrText></w:r>'
        f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{result}<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


def test_accepted_changes_are_read_and_rejected_ones_are_not() -> None:
    body = (
        f"<w:p>{run('a')}<w:ins>{run('b')}</w:ins><w:del><w:r><w:delText>c</w:delText></w:r></w:del>"
        f"<w:moveFrom>{run('d')}</w:moveFrom><w:moveTo>{run('e')}</w:moveTo></w:p>"
    )
    assert texts(body) == ["abe"]


def test_a_paragraph_whose_end_was_deleted_runs_on() -> None:
    body = paragraph("one ", "<w:rPr><w:del/></w:rPr>") + paragraph("sentence") + paragraph("next")
    assert texts(body) == ["one sentence", "next"]
    assert texts(paragraph("last", "<w:rPr><w:del/></w:rPr>")) == ["last"]
    assert texts(table(row(f"<w:tc>{paragraph('last', '<w:rPr><w:del/></w:rPr>')}</w:tc>", "b"))) == ["| last | b |"]


def test_a_deleted_row_is_left_out() -> None:
    assert texts(table(row("a", "b"), row("c", "d", properties="<w:del/>"), row("e", "f"))) == ["| a | b |\n| e | f |"]


def test_fields_give_results_and_not_codes() -> None:
    inner = field("MERGEFIELD x", run("hidden condition"))
    conditional = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>IF </w:instrText></w:r>'
        f'{inner}<w:r><w:fldChar w:fldCharType="separate"/></w:r>{run("shown")}'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    link = field('HYPERLINK "https://example.org"', run("link"))
    simple = f'<w:fldSimple w:instr=" REF x ">{run("simple")}</w:fldSimple>'
    smart = f"<w:smartTag><w:hyperlink>{run('tag')}</w:hyperlink></w:smartTag>"
    assert texts(f"<w:p>{conditional}{run(' ')}{link}{run(' ')}{simple}{run(' ')}{smart}</w:p>") == [
        "shown link simple tag"
    ]


def test_a_field_that_never_ends_swallows_nothing_beyond_its_paragraph() -> None:
    body = f'<w:p>{run("a")}<w:r><w:fldChar w:fldCharType="begin"/></w:r></w:p>{paragraph("b")}'
    assert texts(body) == ["a", "b"]


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ('<w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>', "☒"),
        ('<w:checkBox><w:default w:val="1"/><w:checked w:val="0"/></w:checkBox>', "☐"),
        ('<w:checkBox><w:default w:val="1"/></w:checkBox>', "☒"),
        ('<w:ddList><w:result w:val="1"/><w:listEntry w:val="no"/><w:listEntry w:val="yes"/></w:ddList>', "yes"),
        ('<w:ddList><w:listEntry w:val="no"/><w:listEntry w:val="yes"/></w:ddList>', "no"),
    ],
)
def test_values_of_form_fields(data: str, shown: str) -> None:
    mark = f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{data}</w:ffData></w:fldChar></w:r>'
    body = f'<w:p>{mark}<w:r><w:fldChar w:fldCharType="end"/></w:r>{run(" agreed")}</w:p>'
    assert texts(body) == [f"{shown} agreed"]


def test_content_controls_are_read_wherever_they_stand() -> None:
    inline = f"<w:p><w:sdt><w:sdtPr/><w:sdtContent>{run('value')}</w:sdtContent></w:sdt></w:p>"
    block = f"<w:sdt><w:sdtContent>{paragraph('block')}</w:sdtContent></w:sdt>"
    around = table(f"<w:sdt><w:sdtContent>{row('a', 'b')}</w:sdtContent></w:sdt>")
    assert texts(inline + block + around) == ["value", "block", "| a | b |"]


def test_a_text_box_is_read_once() -> None:
    box = f"<w:txbxContent>{paragraph('boxed')}</w:txbxContent>"
    body = (
        f"<w:p>{run('anchor')}<w:r><mc:AlternateContent>"
        f"<mc:Choice><w:drawing><wps:txbx>{box}</wps:txbx></w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict><v:textbox>{box}</v:textbox></w:pict></mc:Fallback>"
        f"</mc:AlternateContent></w:r>{run(' goes on')}</w:p>"
        f"<w:p><w:r><w:pict><v:textbox>{box.replace('boxed', 'old box')}</v:textbox></w:pict></w:r></w:p>"
    )
    assert texts(body) == ["anchor goes on", "boxed", "old box"]


def test_breaks_tabs_symbols_and_hidden_text() -> None:
    body = (
        f"<w:p>{run('a')}<w:r><w:br/></w:r>{run('b')}<w:r><w:tab/></w:r>{run('c')}"
        '<w:r><w:noBreakHyphen/><w:sym w:font="Symbol" w:char="F061"/><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>'
        f"{run('unseen', '<w:vanish/>')}{run('seen', NOT_HIDDEN)}{run(chr(0xF0B0), SYMBOL)}</w:p>"
    )
    assert texts(body) == ["a\nb\tc-α☑seen°"]


def test_equations_are_one_line() -> None:
    fraction = "<m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f>"
    power = "<m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>"
    root = "<m:rad><m:radPr/><m:deg/><m:e><m:r><m:t>y</m:t></m:r></m:e></m:rad>"
    body = f"<w:p><m:oMathPara><m:oMath>{fraction}<m:r><m:t>=</m:t></m:r>{power}{root}</m:oMath></m:oMathPara></w:p>"
    assert texts(body) == ["(a+b)/2=x^2√y"]


def test_notes_follow_the_paragraph_that_refers_to_them() -> None:
    note = '<w:{0} w:id="{1}"><w:p><w:r><w:{0}Ref/></w:r>{2}</w:p></w:{0}>'
    reference = '<w:r><w:{0}Reference w:id="{1}"/></w:r>'
    body = (
        f"<w:p>{run('first')}{reference.format('footnote', 3)}{run(' and')}{reference.format('endnote', 2)}</w:p>"
        f"{table(row('<w:tc><w:p>' + run('cell') + reference.format('footnote', 2) + '</w:p></w:tc>', 'b'))}"
        f"<w:p>{run('again')}{reference.format('footnote', 3)}{reference.format('footnote', 99)}</w:p>"
    )
    footnotes = (
        f'<w:footnote w:type="separator" w:id="0">{paragraph("never")}</w:footnote>'
        f"{note.format('footnote', 2, run('second note'))}{note.format('footnote', 3, run('first note'))}"
    )
    assert texts(body, footnotes=footnotes, endnotes=note.format("endnote", 2, run("end note"))) == [
        "first[1] and[i]",
        "[1] first note",
        "[i] end note",
        "| cell[2] | b |",
        "[2] second note",
        "again[1]",
    ]


def test_headers_and_footers_are_given_once_and_without_page_numbers() -> None:
    references = "".join(
        f'<w:sectPr><w:headerReference r:id="{header}"/><w:footerReference r:id="footer1"/></w:sectPr>'
        for header in ("header1", "header2")
    )
    page = f"<w:p>{run('Manual')}<w:r><w:br/></w:r>{run('Page 4-')}{field('PAGE', run('7'))}{run(' of ')}"
    page += f"{field('NUMPAGES', '')}</w:p>"
    number = f'<w:p><w:fldSimple w:instr="PAGE">{run("3")}</w:fldSimple></w:p>'
    header = paragraph("The Company")
    assert texts(paragraph("body") + references, header1=header, header2=header + number, footer1=page) == [
        "The Company",
        "Manual",
        "body",
    ]


def test_comments_are_left_out() -> None:
    comments = element("w:comments", f'<w:comment w:id="1">{paragraph("a remark")}</w:comment>')
    body = f'<w:p><w:commentRangeStart w:id="1"/>{run("text")}<w:r><w:commentReference w:id="1"/></w:r></w:p>'
    document = parse_docx(docx(body, parts={"word/comments.xml": comments}))
    assert document.text == "text"


def test_code_by_style_keeps_its_lines() -> None:
    styles = '<w:style w:styleId="Quelltext"><w:name w:val="Source Code"/></w:style>'
    body = styled("def f():", "Quelltext") + styled("    return 1", "Quelltext") + styled("", "Quelltext")
    document = parse_docx(docx(body + styled("f()", "Quelltext") + paragraph("prose"), styles=styles))
    assert [(block.kind, block.text) for block in document.blocks] == [
        (Kind.CODE, "```\ndef f():\n    return 1\n\nf()\n```"),
        (Kind.PARAGRAPH, "prose"),
    ]


def test_code_by_font_is_told_from_typewritten_prose() -> None:
    code = f"<w:p>{run('for x in range(3):', MONO)}</w:p><w:p>{run('  total += x', MONO)}</w:p>"
    prose = f"<w:p>{run('A letter, as it was typed.', MONO)}</w:p><w:p>{run('It has two paragraphs.', MONO)}</w:p>"
    mixed = f"<w:p>{run('call ')}{run('f(x)[0]', MONO)}</w:p>"
    document = parse_docx(docx(code + paragraph("so") + prose + mixed))
    assert [block.kind for block in document.blocks] == [Kind.CODE, *[Kind.PARAGRAPH] * 4]
    assert document.blocks[0].text == "```\nfor x in range(3):\n  total += x\n```"


def test_imported_documents_leave_a_warning() -> None:
    document = parse_docx(docx(paragraph("text") + '<w:altChunk r:id="x"/>'))
    assert document.warnings == ["1 imported documents inside this one are left out"]


def test_a_damaged_part_beside_the_text_leaves_a_warning() -> None:
    document = parse_docx(docx(styled("text", "Heading1"), parts={"word/styles.xml": "<broken"}, styles=""))
    assert document.text == "text"
    assert [warning for warning in document.warnings if "word/styles.xml" in warning]


def test_the_strict_variant_is_read() -> None:
    strict = "http://purl.oclc.org/ooxml"
    main = f'<w:document xmlns:w="{strict}/wordprocessingml/main"><w:body>{paragraph("text")}</w:body></w:document>'
    rels = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a"'
        f' Type="{strict}/officeDocument/relationships/officeDocument" Target="/word/document.xml"/></Relationships>'
    )
    assert parse_docx(docx("", parts={"word/document.xml": main, "_rels/.rels": rels})).text == "text"


def test_charts_and_diagrams_in_the_text() -> None:
    body = '<w:p><w:r><w:drawing><c:chart r:id="chart"/></w:drawing></w:r></w:p>' + paragraph("after")
    chart = element(
        "c:chartSpace",
        "<c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:rich></c:tx></c:title></c:chart>",
    )
    rels = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="chart" Type="x/chart" Target="charts/c.xml"/></Relationships>'
    )
    parts = {"word/charts/c.xml": chart, "word/_rels/document.xml.rels": rels}
    assert parse_docx(docx(body, parts=parts)).text == "Sales\n\nafter"


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("Page \0", None),
        ("Page \0 of \0", None),
        ("- \0 -", None),
        ("Seite \0 von \0", None),
        ("第\0页 共\0页", None),
        ("Company manual\tPage 2-\0", "Company manual"),
        ("公司手册 第\0页", "公司手册"),
        ("Annual report | \0", "Annual report |"),
        ("_________", None),
        ("Rev. 2\t\0/\0", "Rev. 2"),
    ],
)
def test_page_numbers_in_margins(line: str, left: str | None) -> None:
    assert [item.text for item in margins([[Paragraph(line)]]) if isinstance(item, Paragraph)] == (
        [left] if left else []
    )
