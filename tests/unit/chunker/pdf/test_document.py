"""Titles, labels, fields, refusals and damage."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import pytest

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.chunker.blocks import Locator
from services.chunker.parsing import parse
from services.chunker.pdf import document, opening
from services.chunker.pdf.document import parse_pdf
from tests.unit.chunker.pdf.drawn import Drawn, written

TICK = "/AP << /N << /Yes 5 0 R /Off 5 0 R >> >>"


def one_page(text: str = "One line of text.", **entries: str) -> Drawn:
    drawn = Drawn(**entries)
    drawn.page().text(50, 60, text)
    return drawn


def altered(place: int, change: Callable[[str], str]) -> bytes:
    objects = one_page()._objects()
    objects[place] = change(objects[place])
    return written(objects)


def refused(body: bytes) -> SourceRefused:
    with pytest.raises(SourceRefused) as caught:
        parse_pdf(body)
    return caught.value


def test_pdfs_are_parsed_by_their_content() -> None:
    parsed = parse(one_page().body(), media_type="application/octet-stream", name="file")
    assert (parsed.media_type, parsed.charset, parsed.text) == ("application/pdf", None, "One line of text.")


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("The keeper of the light", "The keeper of the light"),
        ("Microsoft Word - report.doc", None),
        ("untitled", None),
        ("report_final2.pdf", None),
        ("C:\\\\Users\\\\x\\\\report", None),
        ("Slide 1", None),
        ("", None),
    ],
)
def test_titles_are_those_that_a_person_gave(title: str, expected: str | None) -> None:
    assert parse_pdf(one_page(info=f"/Title ({title})").body()).title == expected


def test_without_a_title_the_first_heading_is_it() -> None:
    drawn = Drawn()
    drawn.page().text(50, 60, "Lights", 20).lines(50, 100, ["A line of the text that follows."] * 3)
    assert parse_pdf(drawn.body()).title == "Lights"


def test_printed_labels_are_given_where_they_differ() -> None:
    drawn = Drawn(catalog="/PageLabels << /Nums [0 << /S /r >> 2 << /S /D /St 3 >>] >>")
    for text in ("First page.", "Second page.", "Third page."):
        drawn.page().text(50, 60, text)
    locators = [block.locator for block in parse_pdf(drawn.body()).blocks]
    assert locators == [Locator(page=1, label="i"), Locator(page=2, label="ii"), Locator(page=3)]


def test_values_of_fields_stand_where_they_are_seen() -> None:
    drawn = Drawn()
    page = drawn.page().text(50, 104, "Family name:").text(70, 154, "Married").text(70, 174, "Divorced")
    page.note("/Subtype /Widget /FT /Tx /T (f1_01) /V (Karlsson)", 130, 95)
    page.note("/Subtype /Widget /FT /Tx /T (x) /TU (Other remarks) /V (none at all)", 130, 120)
    page.note(f"/Subtype /Widget /FT /Btn /T (cb1) /V /Yes /AS /Yes {TICK}", 50, 145, 12, 12)
    page.note(f"/Subtype /Widget /FT /Btn /T (cb2) /AS /Off {TICK}", 50, 165, 12, 12)
    page.note("/Subtype /Widget /FT /Ch /Ff 131072 /T (country) /Opt [(Sweden) (Norway)] /V (Norway)", 130, 195)
    page.note("/Subtype /Widget /FT /Tx /Ff 8192 /T (secret) /V (hunter2)", 130, 220)
    page.note("/Subtype /FreeText /Contents (Seen by the office)", 130, 250, 200)
    page.note("/Subtype /Text /Contents (a comment)", 130, 280)
    text = parse_pdf(drawn.body()).text
    for expected in (
        "Family name: Karlsson",
        "Other remarks: none at all",
        "☒ Married",
        "Norway",
        "Seen by the office",
    ):
        assert expected in text
    assert "hunter2" not in text
    assert "a comment" not in text
    assert "☒ Divorced" not in text


def test_a_form_of_which_only_the_values_are_text() -> None:
    drawn = Drawn()
    drawn.page().note("/Subtype /Widget /FT /Tx /T (name) /V (Bar)", 50, 60)
    assert parse_pdf(drawn.body()).text == "name: Bar"


def test_what_the_page_does_not_show_is_left_out() -> None:
    drawn = Drawn()
    drawn.page("/CropBox [0 400 612 792]").text(50, 60, "Shown.").text(50, 700, "Cut off.")
    assert parse_pdf(drawn.body()).text == "Shown."


def test_invisible_text_is_the_text_of_a_scan() -> None:
    drawn = Drawn()
    page = drawn.page()
    page.operators.append("3 Tr")
    page.text(50, 60, "What the scanner read.")
    assert parse_pdf(drawn.body()).text == "What the scanner read."


def test_a_password_is_refused() -> None:
    key = "<" + "00" * 32 + ">"
    encryption = f"/ID [<00> <00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O {key} /U {key} >>"
    assert refused(written(one_page()._objects(), encryption)).code is Code.ENCRYPTED


def test_pages_of_pictures_are_called_scans() -> None:
    drawn = Drawn()
    picture = "q 100 0 0 100 50 50 cm BI /W 1 /H 1 /CS /G /BPC 8 /F /AHx ID 80> EI Q"
    for _ in range(3):
        drawn.page().operators.append(picture)
    refusal = refused(drawn.body())
    assert refusal.code is Code.NO_TEXT
    assert "scanned" in refusal.reason
    assert "3 pages" in refusal.reason


def test_empty_pages_have_no_text() -> None:
    drawn = Drawn()
    drawn.page()
    assert refused(drawn.body()).code is Code.NO_TEXT


@pytest.mark.parametrize("body", [b"%PDF-1.7\n", b"%PDF-1.4\nnothing of the kind\n%%EOF", b"plain text"])
def test_what_is_no_pdf_is_broken(body: bytes) -> None:
    assert refused(body).code is Code.BROKEN


def test_a_wrong_cross_reference_table_is_made_anew() -> None:
    body = one_page().body().replace(b"startxref\n", b"startxref\n9")
    assert parse_pdf(body).text == "One line of text."


@pytest.mark.parametrize(
    "kids",
    ["/Kids [2 0 R 9 0 R] /Count 5", "/Kids [9 0 R] /Count 99999999", "/Kids [9 0 R] /Count -1"],
    ids=["loop", "absurd count", "negative count"],
)
def test_page_trees_that_lie_end(kids: str) -> None:
    parsed = parse_pdf(altered(1, lambda _: f"<< /Type /Pages {kids} >>"))
    assert parsed.text == "One line of text."


def test_pages_that_are_missing_are_named() -> None:
    parsed = parse_pdf(altered(1, lambda _: "<< /Type /Pages /Kids [9 0 R 99 0 R] /Count 2 >>"))
    assert parsed.warnings == ["page 2: damaged and left out"]


def test_forms_that_draw_themselves_end() -> None:
    drawn = one_page()
    drawn.pages[0].operators.append("/Loop Do")
    objects = drawn._objects()
    form = "<< /Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /XObject << /Loop 11 0 R >> >> "
    content = "10 10 m 90 10 l S /Loop Do"
    objects.append(f"{form} /Length {len(content)} >>\nstream\n{content}\nendstream")
    objects[8] = objects[8].replace("/Resources <<", "/Resources << /XObject << /Loop 11 0 R >>")
    assert parse_pdf(written(objects)).text == "One line of text."


def test_an_outline_that_loops_ends() -> None:
    drawn = one_page()
    drawn.outline = [("One line of text.", 0)]
    objects = drawn._objects()
    objects[-1] = objects[-1].replace("/Parent 4 0 R", "/Parent 4 0 R /Next 11 0 R /First 11 0 R")
    assert parse_pdf(written(objects)).text == "One line of text."


def test_damaged_streams_are_warned_of() -> None:
    content = b"BT /F 10 Tf 50 700 Td (One line of text.) Tj ET"
    packed = bytearray(zlib.compress(content))
    packed[-1] ^= 255
    objects = one_page()._objects()
    objects[9] = "CONTENT"
    stream = b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream" % (len(packed), bytes(packed))
    (warning,) = parse_pdf(written(objects).replace(b"CONTENT", stream)).warnings
    assert warning == "1 parts of the file are damaged: some text may be missing or wrong"


def test_too_many_pages_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "MOST_PAGES", 2)
    drawn = Drawn()
    for _ in range(3):
        drawn.page().text(50, 60, "A page.")
    assert refused(drawn.body()).code is Code.SOURCE_TOO_LARGE


def test_too_much_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "_MOST_CHARACTERS", 10)
    assert refused(one_page().body()).code is Code.SOURCE_TOO_LARGE
