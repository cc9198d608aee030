from __future__ import annotations

from typing import Any

from services.cli.searching import answer_lines


def hit(**fields: Any) -> dict[str, Any]:
    plain = {"title": None, "source_id": "S", "score": 1.0, "url": None, "heading_path": [], "text": "the text"}
    return plain | {"also_in": []} | fields


def test_twins_are_named_by_what_a_person_knows() -> None:
    twins = [
        {"url": "https://x.test/a", "title": "A", "source_id": "1"},
        {"url": None, "title": "B", "source_id": "2"},
        {"url": None, "title": None, "source_id": "3"},
    ]
    lines = list(answer_lines({"hits": [hit(also_in=twins), hit()]}))
    assert [line.strip() for line in lines if "also in" in line] == [
        "also in https://x.test/a", "also in B", "also in 3",
    ]  # fmt: skip
