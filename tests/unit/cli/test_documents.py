"""`kb parse` and `kb chunk`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Kb

PAGE = """# Refunds

Customers get their money back.

## Window

Within **thirty days** of the purchase.
"""


@pytest.fixture
def page(tmp_path: Path) -> str:
    path = tmp_path / "refunds.md"
    path.write_text(PAGE)
    return str(path)


def test_parse_prints_the_blocks(kb: Kb, page: str) -> None:
    ended = kb("parse", page)
    assert ended.code == 0
    assert set(ended.json) == {"title", "media_type", "charset", "text", "blocks", "warnings"}
    assert (ended.json["title"], ended.json["media_type"]) == ("Refunds", "text/markdown")
    last = ended.json["blocks"][-1]
    assert last["heading_path"] == ["Refunds", "Window"]
    assert last["locator"] == {"anchor": "window"}
    assert "thirty days" in last["text"]
    assert last["kind"] == "paragraph"


def test_chunk_prints_exact_ranges(kb: Kb, page: str) -> None:
    text = kb("parse", page).json["text"]
    chunks = kb("chunk", page, "--preset", "short", "--json").json
    assert chunks
    for order, chunk in enumerate(chunks):
        assert chunk["order"] == order
        assert chunk["text"] == text[chunk["start"] : chunk["end"]]
        assert len(chunk["content_hash"]) == 64
        assert chunk["token_count"] > 0


@pytest.mark.parametrize(
    ("content", "code"), [(b"", "EMPTY"), (b"\x7fELF" + bytes(99), "UNSUPPORTED_TYPE"), (b"<html></html>", "NO_TEXT")]
)
def test_a_refused_document_ends_with_3_and_its_code(kb: Kb, tmp_path: Path, content: bytes, code: str) -> None:
    (tmp_path / "file").write_bytes(content)
    for command in ("parse", "chunk"):
        ended = kb(command, "file")
        assert ended.code == 3
        assert ended.json["error"]["code"] == code
        assert ended.json["error"]["message"]


def test_addresses_that_are_not_public_are_refused(kb: Kb) -> None:
    ended = kb("parse", "http://127.0.0.1:1/")
    assert (ended.code, ended.json["error"]["code"]) == (3, "URL_REFUSED")


def test_what_is_not_there_ends_with_1(kb: Kb) -> None:
    ended = kb("parse", "nowhere.md")
    assert (ended.code, ended.json["error"]["code"]) == (1, "NOT_FOUND")


def test_an_unknown_preset_is_named(kb: Kb, page: str) -> None:
    ended = kb("chunk", page, "--preset", "huge")
    assert (ended.code, ended.json["error"]["code"]) == (1, "REQUEST_INVALID")
