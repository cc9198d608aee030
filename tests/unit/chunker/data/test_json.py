import json
from typing import Any

import pytest

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.chunker.blocks import Document, Kind
from services.chunker.data.records import parse_json
from services.chunker.parsing import parse


def document(value: Any) -> Document:
    return parse_json(json.dumps(value), "utf-8")


def blocks(value: Any) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in document(value).blocks]


def test_small_values_are_lines_with_their_paths() -> None:
    value = {"name": "lamp", "size": {"width": 2, "unit": "cm"}, "tags": ["a", "b"], "on": True, "off": None}
    assert blocks(value) == [("paragraph", "name: lamp\nsize.width: 2\nsize.unit: cm\ntags: a, b\non: true")]
    assert document(value).title == "lamp"


def test_large_values_are_sections_after_what_belongs_to_the_object_itself() -> None:
    inner = {f"key {n}": n for n in range(10)}
    found = document({"inner": inner, "text": "long " * 60, "last": "z"})
    assert [(block.kind, block.heading_path) for block in found.blocks] == [
        (Kind.PARAGRAPH, ()),
        (Kind.PARAGRAPH, ()),
        (Kind.HEADING, ("inner",)),
        (Kind.PARAGRAPH, ("inner",)),
    ]
    assert found.blocks[0].text == "last: z"
    assert found.blocks[1].text.startswith("text: long long")
    assert "key 9: 9" in found.blocks[3].text


def test_objects_alike_are_a_table() -> None:
    assert blocks([{"a": 1, "b": "x|y"}, {"a": 2, "b": None}, {"b": "z"}]) == [
        ("table", "| a | b |\n| 1 | x\\|y |\n| 2 |  |\n|  | z |")
    ]


def test_other_objects_are_paragraphs_or_sections_with_their_names() -> None:
    long = "word " * 100
    assert [
        text for _, text in blocks({"faq": [{"title": "Why", "text": long}, {"text": long}, {"a": [{"b": 1}]}]})
    ] == [
        "faq",
        "Why",
        "title: Why",
        f"text: {long.strip()}",
        "faq 2",
        f"text: {long.strip()}",
        "a.b: 1",
    ]


def test_numbers_stand_as_written() -> None:
    text = '{"a": 1.50, "b": 1e400, "c": ' + "9" * 5000 + "}"
    assert parse_json(text, None).text.startswith("a: 1.50\nb: 1e400\n\nc: 999")


def test_long_strings_keep_their_paragraphs() -> None:
    assert blocks({"a": "one\n\ntwo\r\nstill two"}) == [("paragraph", "a: one"), ("paragraph", "two\nstill two")]
    assert blocks(["one", "two\n\nlines"]) == [("list", "- one"), ("list", "- two\n  lines")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_charsets(encoding: str) -> None:
    assert parse('{"größe": "é"}'.encode(encoding), name="a.json").text == "größe: é"


def test_what_can_not_be_stored_is_removed() -> None:
    assert parse(b'{"a": "x\\u0000\\ud800y", "b": "\\u0000"}', name="a.json").text == "a: xy"


def test_lines_of_json() -> None:
    assert parse_json('{"a": 1, "b": 2}\n\n{"a": 3, "b": 4}\n', None).text == "| a | b |\n| 1 | 2 |\n| 3 | 4 |"


def test_nesting() -> None:
    value: Any = "deep"
    for level in range(60, 0, -1):
        value = {f"level{level}": value, "note": f"at {level} " + "x" * 60}
    text = document(value).text
    assert all(f"at {level} " in text for level in range(1, 61))
    assert "deep" in text


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("[" * 100_000, Code.TOO_DEEP),
        ('{"a":' * 100_000, Code.TOO_DEEP),
        ("[" * 300 + "1" + "]" * 300, Code.TOO_DEEP),
        ("[" * 100 + "]" * 100, Code.NO_TEXT),
        ('[{}, {"a": []}, null, ""]', Code.NO_TEXT),
        ("123\x00", Code.BROKEN),
        ('{"a": 1', Code.BROKEN),
        ('{"a": 1}\n{"a": ', Code.BROKEN),
        ("no json", Code.BROKEN),
        ("[" * 200 + '"' + "a" * 100_000 + "\\", Code.TOO_DEEP),
        ("[1]," * 200 + '"' + "a " * 100_000, Code.BROKEN),
    ],
)
def test_refusals(source: str, code: Code) -> None:
    with pytest.raises(SourceRefused) as refused:
        parse(source.encode(), name="a.json")
    assert refused.value.code is code


def test_brackets_in_strings_are_no_nesting() -> None:
    assert document({"a": "[" * 1000 + '\\"{'}).text.startswith("a: [[[")
