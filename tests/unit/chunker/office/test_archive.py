"""Archives that are hostile, damaged or encrypted."""

import io
import struct
import tracemalloc
import zipfile

import pytest

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.chunker.office.archive import Archive
from services.chunker.office.markup import parse_xml
from services.chunker.office.word.document import parse_docx
from services.chunker.parsing import parse
from tests.unit.chunker.office.packages import docx, paragraph, zipped

NAME = "word/document.xml"


def refusal(body: bytes) -> Code:
    with pytest.raises(SourceRefused) as refused:
        parse_docx(body)
    return refused.value.code


def patched(body: bytes, name: str, offset: int, value: bytes) -> bytes:
    """Overwrite a field of the entry of `name` in the directory, and in the header in front of the entry."""
    archive = bytearray(body)
    central = body.index(b"PK\x01\x02", body.rindex(name.encode()) - 46)
    local = struct.unpack_from("<I", body, central + 42)[0]
    archive[central + offset : central + offset + len(value)] = value
    archive[local + offset - 2 : local + offset - 2 + len(value)] = value
    return bytes(archive)


def test_names_are_compared_without_case_and_with_either_slash() -> None:
    archive = Archive(zipped({"Word\\Document.xml": "x", "/_rels/.RELS": "y"}))
    assert archive.read(NAME) == b"x"
    assert "_rels/.rels" in archive
    assert "other" not in archive


def test_a_part_that_unpacks_to_too_much_is_refused_without_unpacking_it() -> None:
    bomb = docx("", parts={NAME: b" " * (100 << 20)})
    tracemalloc.start()
    code = refusal(bomb)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert code is Code.SOURCE_TOO_LARGE
    assert peak < 5 << 20


def test_a_part_that_shrinks_as_no_document_does_is_refused() -> None:
    assert refusal(docx("", parts={NAME: b" " * (20 << 20)})) is Code.SOURCE_TOO_LARGE


def test_a_part_that_is_larger_than_it_says_is_refused() -> None:
    bomb = docx("", parts={NAME: b" " * (20 << 20)})
    assert refusal(patched(bomb, NAME, 24, struct.pack("<I", 1000))) is Code.BROKEN


def test_the_sum_of_what_is_read_is_bounded() -> None:
    archive = Archive(zipped({"part": bytes(40 << 20)}, zipfile.ZIP_STORED))
    for _ in range(4):
        assert len(archive.read("part")) == 40 << 20
    with pytest.raises(SourceRefused) as refused:
        archive.read("part")
    assert refused.value.code is Code.SOURCE_TOO_LARGE


def test_the_number_of_entries_is_bounded() -> None:
    assert refusal(zipped({str(number): "" for number in range(20_001)})) is Code.SOURCE_TOO_LARGE


def test_entries_that_need_a_password_are_refused() -> None:
    assert refusal(patched(docx(paragraph("x")), NAME, 8, b"\x01\x00")) is Code.ENCRYPTED


def test_methods_that_inflate_without_bound_are_refused() -> None:
    with zipfile.ZipFile(io.BytesIO(docx(paragraph("x")))) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    assert refusal(zipped(parts, zipfile.ZIP_BZIP2)) is Code.BROKEN


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9, 0.99])
def test_an_archive_that_was_cut_off_is_broken(share: float) -> None:
    whole = docx("".join(paragraph(f"paragraph {number}") for number in range(500)))
    with pytest.raises(SourceRefused) as refused:
        parse(whole[: int(len(whole) * share)], name="a.docx")
    assert refused.value.code in (Code.BROKEN, Code.UNSUPPORTED_TYPE)


def test_flipped_bytes_are_found() -> None:
    body = docx("".join(paragraph(f"paragraph {number}") for number in range(500)))
    middle = body.index(NAME.encode()) + 400
    assert refusal(body[:middle] + bytes(byte ^ 0x55 for byte in body[middle : middle + 20]) + body[middle + 20 :]) is (
        Code.BROKEN
    )


def test_a_missing_main_part_is_broken() -> None:
    assert refusal(zipped({"word/other.xml": "<a/>"})) is Code.BROKEN


@pytest.mark.parametrize(
    ("xml", "code"),
    [
        (b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]><a>&x;</a>', Code.BROKEN),
        (b'<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd"><a/>', Code.BROKEN),
        (b"<a>" * 1000 + b"</a>" * 1000, Code.TOO_DEEP),
        (b"<a>" + b"x" * (11 << 20) + b"</a>", Code.SOURCE_TOO_LARGE),
        (b"<a><b></a>", Code.BROKEN),
        (b"", Code.BROKEN),
        (b'<?xml version="1.0" encoding="klingon"?><a/>', Code.BROKEN),
    ],
)
def test_xml_that_is_hostile_or_damaged(xml: bytes, code: Code) -> None:
    with pytest.raises(SourceRefused) as refused:
        parse_xml(xml, "part")
    assert refused.value.code is code


def test_entities_that_multiply_are_refused() -> None:
    entities = '<!ENTITY e0 "xxxxxxxxxx">' + "".join(
        f'<!ENTITY e{level} "{f"&e{level - 1};" * 10}">' for level in range(1, 10)
    )
    for use in ("<a>&e9;</a>", '<a b="&e9;"/>'):
        with pytest.raises(SourceRefused):
            parse_xml(f"<!DOCTYPE a [{entities}]>{use}".encode(), "part")
