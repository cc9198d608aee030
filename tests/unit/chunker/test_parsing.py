import pytest

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.chunker.parsing import parse
from services.chunker.sniffing import sniff


@pytest.mark.parametrize(
    ("body", "media_type", "name", "expected"),
    [
        (b"<!DOCTYPE html><p>x", None, None, "text/html"),
        (b"\xef\xbb\xbf<html><p>x", "text/plain", "a.txt", "text/html"),
        ("<!doctype html><p>x".encode("utf-16"), None, None, "text/html"),
        (b"<p>one</p><p>two</p>", "text/html; charset=utf-8", None, "text/html"),
        (b"no tags at all", "text/html", None, "text/plain"),
        (b"# Title\n\ntext", "text/plain", "README.md", "text/markdown"),
        (b"# Title\n\ntext", "text/html", "README.md", "text/markdown"),
        (b"# Title\n\n[a](b)\n", None, None, "text/markdown"),
        (b"# a comment\nset x 1\n", None, None, "text/plain"),
        (b"<div align=center>\n\n# T", None, "README.md", "text/markdown"),
        (b"%PDF-1.7 ...", "text/plain", "a.txt", "application/pdf"),
        (b"PK\x03\x04....", None, "a.docx", "application/zip"),
        (b"{\\rtf1 text}", "text/plain", None, "application/rtf"),
        (bytes(range(256)) * 20, "text/plain", "a.txt", "application/octet-stream"),
        (b'{"a": 1}', "application/json", None, "application/json"),
    ],
)
def test_type_is_found_by_content(body: bytes, media_type: str | None, name: str | None, expected: str) -> None:
    assert sniff(body, media_type, name).media_type == expected


@pytest.mark.parametrize(
    ("body", "media_type", "code"),
    [
        (b"", None, Code.EMPTY),
        (b" \n\t ", "text/html", Code.EMPTY),
        (b"<html><body><nav>Home</nav></body></html>", "text/html", Code.NO_TEXT),
        (b'<html><body><div id="app">Loading...</div><script src="a.js"></script>', "text/html", Code.NO_TEXT),
        (b"<div>" * 100_000, "text/html", Code.TOO_DEEP),
        (b"\x89PNG\r\n\x1a\n", None, Code.UNSUPPORTED_TYPE),
        (bytes(range(256)) * 20, "text/plain", Code.UNSUPPORTED_TYPE),
        (b"<!-- only a comment -->", "text/markdown", Code.NO_TEXT),
    ],
)
def test_refusals_have_codes(body: bytes, media_type: str | None, code: Code) -> None:
    with pytest.raises(SourceRefused) as refused:
        parse(body, media_type=media_type)
    assert refused.value.code is code


def test_the_url_hints_at_the_type() -> None:
    document = parse(b"# Title", media_type="text/plain", url="https://example.org/docs/a%20b.md?raw=1")
    assert document.media_type == "text/markdown"


def test_plain_text_is_cut_at_blank_lines() -> None:
    document = parse(b"one\r\nstill one\r\n\r\n \r\ntwo\rstill two\x0cthree\x00", name="a.txt")
    assert [block.text for block in document.blocks] == ["one\nstill one", "two\nstill two\nthree"]
