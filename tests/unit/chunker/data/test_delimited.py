import time

import pytest

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.chunker.data.delimited import parse_delimited
from services.chunker.parsing import parse


def blocks(text: str) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in parse_delimited(text, "utf-8").blocks]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters(delimiter: str) -> None:
    text = "name,price,note\nlamp,1.50,bright\nbulb,2.00,dim\n".replace(",", delimiter)
    assert blocks(text) == [("table", "| name | price | note |\n| lamp | 1.50 | bright |\n| bulb | 2.00 | dim |")]


def test_quotes_hold_delimiters_and_line_ends() -> None:
    assert blocks('a,b\r\n"x, y","one\r\ntwo ""q"""\r\n')[0][1] == '| a | b |\n| x, y | one two "q" |'


def test_a_quote_that_is_never_closed_swallows_nothing() -> None:
    rows = "".join(f"{n},row {n}\n" for n in range(1000))
    text = "\n".join(block for _, block in blocks('id,text\n1,"inch\n' + rows))
    assert '| 1 | "inch |' in text
    assert "| 999 | row 999 |" in text


def test_ragged_rows_and_rows_above_the_table() -> None:
    assert blocks("Report,,\n,,\nname,city,year\nA,B\nC,D,3,more\n") == [
        ("paragraph", "Report"),
        ("table", "| name | city | year |\n| A | B |\n| C | D | 3 | more |"),
    ]


def test_the_header_stands_above_each_piece() -> None:
    found = blocks("number;text\n" + "".join(f"{n};{'word ' * 20}\n" for n in range(100)))
    assert len(found) > 5
    assert all(kind == "table" and text.startswith("| number | text |\n| ") for kind, text in found)


def test_numbers_are_no_header() -> None:
    found = blocks("".join(f"{n},{'word ' * 20}\n" for n in range(100)))
    assert all(text.count("| 0 |") == (number == 0) for number, (_, text) in enumerate(found))


def test_a_long_row_is_a_paragraph_with_the_names_of_the_columns() -> None:
    long = "because " * 150
    assert blocks(f"question,answer\nWhy?,{long}\nHow?,so\n") == [
        ("paragraph", f"question: Why?\nanswer: {long.strip()}"),
        ("table", "| question | answer |\n| How? | so |"),
    ]


def test_a_named_delimiter() -> None:
    assert blocks("sep=;\na;b\n1,5;2,5\n")[0][1] == "| a | b |\n| 1,5 | 2,5 |"


@pytest.mark.parametrize("text", ["Prose, that is, words.\nMore of it, here.\n\nThe end.", "one\ntwo\nthree"])
def test_what_is_no_table_is_plain_text(text: str) -> None:
    assert parse_delimited(text, None).media_type == "text/plain"


def test_types_and_charsets() -> None:
    assert parse("a\tb\n1\t2\n".encode("utf-16"), name="a.csv").media_type == "text/tab-separated-values"
    document = parse("名前,年齢,住所\n佐藤太郎,30,東京\n三木英子,25,名古屋\n".encode("cp932"), name="a.csv")
    assert "| 佐藤太郎 | 30 | 東京 |" in document.text


@pytest.mark.parametrize("text", ["\x00", ",,\n,,\n"])
def test_blank_tables_are_refused(text: str) -> None:
    with pytest.raises(SourceRefused) as refused:
        parse_delimited(text, None)
    assert refused.value.code is Code.NO_TEXT


def test_ten_megabytes_take_seconds() -> None:
    text = "id,name,text\n" + "".join(f'{n},"name, {n}",some words for the row {n}\n' for n in range(200_000))
    started = time.process_time()
    parse_delimited(text, None)
    assert time.process_time() - started < 10 * len(text) / 1e7
