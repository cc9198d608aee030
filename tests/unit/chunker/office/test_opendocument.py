"""OpenDocument texts."""

import pytest

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.chunker.blocks import Kind
from services.chunker.office.opendocument.document import parse_odt
from services.chunker.parsing import parse
from tests.unit.chunker.office.packages import odf, odt

STYLES = """
<style:style style:name="P1" style:parent-style-name="Preformatted_20_Text"/>
<style:style style:name="P2" style:parent-style-name="Title"/>
<style:style style:name="T1"><style:text-properties text:display="none"/></style:style>
<text:list-style style:name="L1">
  <text:list-level-style-bullet text:level="1"/>
  <text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")"/></text:list-style>
<text:list-style style:name="L2">
  <text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="." text:start-value="2"/>
</text:list-style>
"""


def texts(body: str) -> list[str]:
    return [block.text for block in parse_odt(odt(body, automatic=STYLES)).blocks]


def test_headings_paragraphs_and_code() -> None:
    body = (
        '<text:p text:style-name="P2">Book</text:p><text:h text:outline-level="2">Chapter</text:h>'
        '<text:section><text:p>Text <text:span>in</text:span>\n   parts<text:s text:c="3"/>of<text:tab/>it'
        '<text:line-break/>all.</text:p></text:section><text:p text:style-name="P1">if x:</text:p>'
        '<text:p text:style-name="P1"><text:s text:c="2"/>y()</text:p>'
    )
    document = parse(odt(body, automatic=STYLES))
    assert document.title == "Book"
    assert [(block.kind, block.level, block.text) for block in document.blocks] == [
        (Kind.HEADING, 1, "Book"),
        (Kind.HEADING, 2, "Chapter"),
        (Kind.PARAGRAPH, 0, "Text in parts of\tit\nall."),
        (Kind.CODE, 0, "```\nif x:\n  y()\n```"),
    ]


def test_lists_are_nested_and_numbered() -> None:
    inner = "<text:list><text:list-item><text:p>a</text:p></text:list-item></text:list>"
    body = (
        f'<text:list text:style-name="L1"><text:list-item><text:p>one</text:p><text:p>more</text:p>{inner}'
        "</text:list-item><text:list-item><text:p>two</text:p></text:list-item></text:list>"
        '<text:list text:style-name="L2"><text:list-item><text:p>n</text:p></text:list-item></text:list>'
        "<text:p>-</text:p>"
        '<text:list text:style-name="L2" text:continue-numbering="true"><text:list-item><text:p>m</text:p>'
        "</text:list-item></text:list>"
    )
    assert texts(body) == ["- one", "more", "  a) a", "- two", "2. n", "-", "3. m"]


def test_deleted_hidden_and_commented_text_is_left_out() -> None:
    body = (
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>deleted</text:p></text:deletion>"
        '</text:changed-region></text:tracked-changes><text:p>kept<text:change text:change-id="1"/>'
        "<office:annotation><text:p>remark</text:p></office:annotation>"
        '<text:span text:style-name="T1"> hidden</text:span> tail</text:p><text:p text:style-name="T1">gone</text:p>'
    )
    assert texts(body) == ["kept tail"]


def test_notes_and_frames_follow_the_paragraph() -> None:
    note = (
        "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>the note</text:p>"
        "</text:note-body></text:note>"
    )
    box = "<draw:frame><draw:text-box><text:p>boxed</text:p></draw:text-box></draw:frame>"
    assert texts(f"<text:p>see{note} here{box}.</text:p><text:p>next</text:p>") == [
        "see[1] here.",
        "[1] the note",
        "boxed",
        "next",
    ]
    assert texts(f"<text:p>end{note}</text:p>") == ["end[1]", "[1] the note"]


def test_tables_with_headers_and_merged_cells() -> None:
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
    rows = (
        f"<table:table-header-rows><table:table-row>{cell.format('A')}{cell.format('B')}{cell.format('C')}"
        "</table:table-row></table:table-header-rows><table:table-row>"
        '<table:table-cell table:number-columns-spanned="2"><text:p>wide</text:p></table:table-cell>'
        f"<table:covered-table-cell/>{cell.format('c')}</table:table-row>"
    )
    assert texts(f"<table:table>{rows}</table:table>") == ["| A | B | C |\n| wide |  | c |"]


def test_headers_and_title_come_from_other_parts() -> None:
    page = "<text:p>Page <text:page-number>3</text:page-number></text:p>"
    styles = f"<style:header><text:p>Company</text:p>{page}</style:header><style:footer>{page}</style:footer>"
    parts = {
        "styles.xml": odf("office:document-styles", styles),
        "meta.xml": odf("office:document-meta", "<dc:title>Report</dc:title>"),
    }
    document = parse_odt(odt("<text:p>text</text:p>", parts=parts))
    assert document.title == "Report"
    assert document.text == "Company\n\ntext"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (
            odt(
                "",
                parts={
                    "META-INF/manifest.xml": '<m:a xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
                    "<m:encryption-data/></m:a>"
                },
            ),
            Code.ENCRYPTED,
        ),
        (odt("<text:p> </text:p>"), Code.NO_TEXT),
        (odt("", parts={"content.xml": "<broken"}), Code.BROKEN),
        (odt("", parts={"content.xml": "<other/>"}), Code.BROKEN),
    ],
)
def test_refusals(body: bytes, code: Code) -> None:
    with pytest.raises(SourceRefused) as refused:
        parse(body)
    assert refused.value.code is code
