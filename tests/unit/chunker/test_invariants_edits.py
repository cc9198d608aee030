"""An edit changes the chunks around it: at most three almost always, whatever was inserted, deleted or changed."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.chunker.blocks import Document, DocumentBuilder, Kind, table_pieces
from services.chunker.chunking import chunk
from services.chunker.parsing import parse
from services.chunker.presets import PRESETS

DATA = Path(__file__).parents[4] / "shared/data"
PRESET = PRESETS["default"]
WORDS = (
    *("of", "and", "the", "index", "query", "stores", "every", "vector", "when", "a", "chunk", "is", "written,"),
    *("read.", "Then", "it", "was", "kept;", "see", "below!"),
)


class Part(NamedTuple):
    """A block to be: `level` above 0 makes it a heading."""

    kind: Kind
    text: str
    level: int = 0


def laid_out(parts: Sequence[Part]) -> Document:
    builder = DocumentBuilder()
    for kind, text, level in parts:
        if level:
            builder.heading(level, text, minor=kind is not Kind.HEADING)
        else:
            builder.add(kind, text)
    return builder.finish(None, "text/plain", None)


def generated(seed: int, number: int, words: range, repeated: float) -> list[Part]:
    """Paragraphs and sections; a share of the paragraphs says the same."""
    rng = random.Random(seed)
    parts = []
    for place in range(number):
        if rng.random() < 0.06:
            parts.append(Part(Kind.HEADING, f"Section {place}", rng.randint(1, 4)))
        elif rng.random() < repeated:
            parts.append(Part(Kind.PARAGRAPH, "The same is said here again and again."))
        else:
            text = " ".join([*rng.choices(WORDS, k=rng.choice(words)), str(place)])
            parts.append(Part(rng.choice((Kind.PARAGRAPH, Kind.LIST)), text))
    return parts


def edited(parts: Sequence[Part], rng: random.Random) -> list[Part]:
    """The parts with one block that is not a heading inserted, deleted, replaced, or changed by a word."""
    places = [place for place, part in enumerate(parts) if not part.level]
    place, other = rng.choice(places), parts[rng.choice(places)]
    after = list(parts)
    match rng.choice(("insert", "delete", "replace", "word")):
        case "insert":
            after.insert(place, other)
        case "delete":
            del after[place]
        case "replace":
            after[place] = other
        case _:
            words = after[place].text.split(" ")
            words[rng.randrange(len(words))] = "changed"
            after[place] = after[place]._replace(text=" ".join(words))
    return after


def changed(before: Sequence[Part], after: Sequence[Part]) -> int:
    """How many chunks an edit makes that were not there."""
    known = {piece.content_hash for piece in chunk(laid_out(before), PRESET, None)}
    return sum(piece.content_hash not in known for piece in chunk(laid_out(after), PRESET, None))


def real() -> Iterator[tuple[str, list[Part]]]:
    """Large documents as they are: of prose, reference, questions in Japanese."""
    for name, number in (("aws-docs-small", 60), ("cranfield", 300), ("jsquad-ja", 600)):
        with (DATA / "ir" / name / "corpus.jsonl").open(encoding="utf-8") as lines:
            texts = [json.loads(line)["text"] for _, line in zip(range(number), lines, strict=False)]
        document = parse("\n\n".join(texts).encode(), name="a.md")
        yield name, [Part(block.kind, block.text, block.level) for block in document.blocks]


@pytest.mark.parametrize("repeated", [0.0, 0.5], ids=["distinct", "half repeated"])
@pytest.mark.parametrize("words", [range(2, 20), range(20, 90)], ids=["short", "long"])
def test_generated_documents(words: range, repeated: float) -> None:
    parts = generated(1, 120_000 // words.stop, words, repeated)
    assert len(chunk(laid_out(parts), PRESET, None)) > 100
    assert_local(parts)


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the shared data")
def test_real_documents() -> None:
    for _, parts in real():
        assert_local(parts)


def assert_local(parts: Sequence[Part]) -> None:
    rng = random.Random(2)
    counts = Counter(changed(parts, edited(parts, rng)) for _ in range(40))
    assert sum(number for count, number in counts.items() if count > 3) <= 1, counts
    assert sum(count * number for count, number in counts.items()) <= 1.8 * counts.total(), counts


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(), repeated=st.sampled_from((0.0, 0.3, 0.9)), longest=st.sampled_from((5, 40, 120)))
def test_no_edit_goes_far(seed: int, repeated: float, longest: int) -> None:
    parts = generated(seed, 40_000 // longest, range(1, longest), repeated)
    assert changed(parts, edited(parts, random.Random(seed))) <= 6


def test_a_changed_row_leaves_most_of_a_long_table_alone() -> None:
    rows = ["| name | value |", *[f"| row {row} | {row * 7919 % 1000} and some more |" for row in range(5000)]]

    def parts(lines: list[str]) -> list[Part]:
        return [Part(Kind.TABLE, piece) for piece in table_pieces(lines, 1)]

    rng = random.Random(3)
    counts = []
    for _ in range(20):
        place = rng.randrange(1, len(rows))
        counts.append(changed(parts(rows), parts([*rows[:place], "| inserted | row |", *rows[place:]])))
    assert sum(counts) <= 4 * len(counts), counts
