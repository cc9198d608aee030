from hypothesis import example, given, settings
from hypothesis import strategies as st

from services.chunker.blocks import DocumentBuilder, Kind
from services.chunker.counting import TokenCount, adds_up
from services.chunker.presets import Preset
from services.chunker.units import make_units
from services.encoder.tokens import count_tokens

LETTERS = "aB1. \t!?'\"`|-=()*_/\u00e9\u0301\u00a0\u2028词。、🇩👩\u200d½Ⅷ\u0e33<|>#\n"
texts = st.text(st.one_of(st.sampled_from(LETTERS), st.characters(exclude_categories=["Cs"])), max_size=40)


@settings(max_examples=600, deadline=None)
@given(before=texts, after=texts)
@example(before="foo!", after="  \n bar")
@example(before="a ", after="\u2028b")
def test_counts_add_up_at_line_ends(before: str, after: str) -> None:
    text = f"{before}\n{after or 'x'}"
    place = len(before) + 1
    if adds_up(text, place):
        assert count_tokens(text) == count_tokens(text[:place]) + count_tokens(text[place:])


def test_where_counts_may_not_add_up() -> None:
    assert not adds_up("a b", 2)
    assert not adds_up("a\n\nb", 2)
    assert not adds_up("a\n  \nb", 2)
    assert adds_up("a\n\nb", 3)
    assert adds_up("a\n  b", 2)


@settings(max_examples=300, deadline=None)
@given(blocks=st.lists(st.tuples(st.sampled_from([Kind.PARAGRAPH, Kind.LIST, Kind.CODE]), texts), max_size=8))
def test_runs_of_units_are_counted_exactly(blocks: list[tuple[Kind, str]]) -> None:
    builder = DocumentBuilder()
    builder.add(Kind.PARAGRAPH, "first")
    for kind, text in blocks:
        builder.add(kind, text)
    document = builder.finish(None, "text/plain", None)
    units = make_units(document, Preset("small", 10, 2))
    count = TokenCount(document.text, units)
    for first in range(len(units)):
        for last in range(first + 1, len(units) + 1):
            text = document.text[units[first].start : units[last - 1].end]
            assert count.between(first, last) == count_tokens(text), text
