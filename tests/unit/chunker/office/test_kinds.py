"""Kinds of archives and OLE files, told by their content."""

import struct

import pytest

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.chunker.office import kinds
from services.chunker.parsing import parse
from services.chunker.sniffing import sniff
from tests.unit.chunker.office.packages import docx, odt, paragraph, zipped

OOXML = "application/vnd.openxmlformats-officedocument"


def typed(content_type: str) -> bytes:
    return zipped({"[Content_Types].xml": f'<Override ContentType="{content_type}"/>', "main.xml": "<a/>"})


def ole(*streams: str) -> bytes:
    """An OLE file with a directory of the given streams, and a text that mentions others."""
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".ljust(512, b"\x00")
    text = "x EncryptedPackage WordDocument".encode("utf-16-le").ljust(512, b"\x00")
    directory = b"".join(
        name.encode("utf-16-le").ljust(64, b"\x00") + struct.pack("<H", 2 * len(name) + 2) + bytes(62)
        for name in ("Root Entry", *streams)
    )
    return head + text + directory


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (docx(paragraph("x")), kinds.DOCX),
        (typed(f"{OOXML}.wordprocessingml.template.main+xml"), kinds.DOCX),
        (typed("application/vnd.ms-word.document.macroEnabled.main+xml"), kinds.DOCX),
        (typed("application/vnd.ms-word.template.macroEnabledTemplate.main+xml"), kinds.DOCX),
        (typed(f"{OOXML}.presentationml.presentation.main+xml"), kinds.PPTX),
        (typed(f"{OOXML}.presentationml.slideshow.main+xml"), kinds.PPTX),
        (typed("application/vnd.ms-powerpoint.presentation.macroEnabled.main+xml"), kinds.PPTX),
        (typed(f"{OOXML}.spreadsheetml.sheet.main+xml"), kinds.XLSX),
        (typed("application/vnd.ms-excel.sheet.macroEnabled.main+xml"), kinds.XLSX),
        (zipped({"word/document.xml": "<a/>"}), kinds.DOCX),
        (docx(paragraph("x"))[:-100], kinds.DOCX),
        (odt(""), kinds.ODT),
        (zipped({"mimetype": "application/vnd.oasis.opendocument.text-template"}), kinds.ODT),
        (zipped({"mimetype": "application/epub+zip"}), "application/epub+zip"),
        (zipped({"mimetype": "<not a type>"}), kinds.ZIP),
        (zipped({"readme.txt": "x", "words/list.txt": "y"}), kinds.ZIP),
        (b"PK\x03\x04", kinds.ZIP),
        (ole("EncryptionInfo", "EncryptedPackage"), kinds.ENCRYPTED),
        (ole("1Table", "WordDocument"), kinds.DOC),
        (ole("PowerPoint Document"), kinds.PPT),
        (ole("Workbook"), kinds.XLS),
        (ole("__substg1.0_001A001E"), kinds.OLE),
    ],
)
def test_the_kind_is_told_by_the_content(body: bytes, kind: str) -> None:
    assert sniff(body, "application/zip", "misleading.txt").media_type == kind


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        (ole("EncryptedPackage"), Code.ENCRYPTED, "password"),
        (ole("WordDocument"), Code.UNSUPPORTED_TYPE, ".docx"),
        (ole("PowerPoint Document"), Code.UNSUPPORTED_TYPE, ".pptx"),
        (ole("Workbook"), Code.UNSUPPORTED_TYPE, ".csv"),
        (zipped({"readme.txt": "x"}), Code.UNSUPPORTED_TYPE, "zip"),
    ],
)
def test_refusals_say_what_to_do(body: bytes, code: Code, words: str) -> None:
    with pytest.raises(SourceRefused) as refused:
        parse(body)
    assert refused.value.code is code
    assert words in refused.value.reason
