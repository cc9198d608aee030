import pytest

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.chunker.blocks import DocumentBuilder, Kind, Locator, pipe_row, table_pieces


def test_ranges_give_each_block_back() -> None:
    builder = DocumentBuilder()
    builder.heading(1, "Title", Locator(anchor="top"))
    builder.add(Kind.PARAGRAPH, "\n  text \n")
    builder.add(Kind.LIST, "- one")
    builder.add(Kind.LIST, "- two")
    document = builder.finish(" A \n title ", "text/plain", "utf-8")
    assert document.text == "Title\n\n  text\n\n- one\n- two"
    assert [document.text[b.start : b.end] for b in document.blocks] == [b.text for b in document.blocks]
    assert document.title == "A title"
    assert document.blocks[1].locator.anchor == "top"


def test_what_cannot_be_stored_is_gone_before_positions_are_counted() -> None:
    builder = DocumentBuilder()
    builder.add(Kind.PARAGRAPH, "a\x00b\ud800c")
    builder.add(Kind.PARAGRAPH, "d")
    document = builder.finish("t\x00", "text/plain", None)
    assert document.text == "abc\n\nd"
    assert document.blocks[1].start == 5
    assert document.title == "t"


def test_heading_path_follows_levels() -> None:
    builder = DocumentBuilder()
    for level, name in ((1, "A"), (3, "B"), (2, "C"), (3, "D"), (1, "E")):
        builder.heading(level, name)
    paths = [block.heading_path for block in builder.finish(None, "text/html", None).blocks]
    assert paths == [("A",), ("A", "B"), ("A", "C"), ("A", "C", "D"), ("E",)]


def test_nothing_readable_is_refused() -> None:
    builder = DocumentBuilder()
    builder.add(Kind.PARAGRAPH, " \n\t ")
    with pytest.raises(SourceRefused) as refused:
        builder.finish(None, "text/plain", None)
    assert refused.value.code is Code.NO_TEXT


def test_each_piece_of_a_table_begins_with_its_header() -> None:
    lines = [pipe_row(["name", "a|b"]), *[pipe_row([f"row {n}", "x" * 50]) for n in range(100)]]
    pieces = table_pieces(lines, 1)
    assert len(pieces) > 3
    assert all(piece.startswith("| name | a\\|b |\n") for piece in pieces)
    assert [line for piece in pieces for line in piece.split("\n")[1:]] == lines[1:]


def test_a_row_more_moves_few_pieces_of_a_table() -> None:
    rows = [pipe_row([f"row {n}", str(n * 7919)]) for n in range(2000)]
    before = set(table_pieces(["head", *rows], 1))
    after = table_pieces(["head", "| one | more |", *rows], 1)
    assert sum(piece not in before for piece in after) < len(after) // 4
