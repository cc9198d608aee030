"""Which documents the demonstration takes, and what it asks about them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from services.cli.demo.documents import find_documents, split_page
from services.cli.demo.questions import derived
from services.cli.failures import CommandFailed


def test_a_page_is_split_at_its_sections_and_nothing_is_lost() -> None:
    text = "# T\n\nIntro.\n\n## A\n\n```\n## no section\n```\n\n### a\n\n## B\nend\n"
    parts = split_page(text)
    assert "".join(parts) == text
    assert [part.splitlines()[0] for part in parts] == ["# T", "## A", "## B"]


def test_the_projects_own_pages_are_at_least_thirty_documents() -> None:
    found = find_documents("")
    assert len(found) >= 30
    assert len({document.name for document in found}) == len(found)
    assert all(document.url.startswith("file://") and document.title and document.body for document in found)


def test_a_folder_is_taken_file_by_file(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.md").write_text("text")
    (tmp_path / "empty.md").touch()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "b.md").write_text("text")
    (document,) = find_documents(str(tmp_path))
    assert document.name == (tmp_path / "deep" / "a.md").as_posix()
    assert document.url == (tmp_path / "deep" / "a.md").as_uri()
    assert document.title is None


def test_an_address_is_one_document() -> None:
    (document,) = find_documents("https://example.com/page")
    assert document.body is None


@pytest.mark.parametrize("make", [False, True])
def test_a_folder_without_files_is_an_error(tmp_path: Path, make: bool) -> None:
    folder = tmp_path / "docs"
    if make:
        folder.mkdir()
    with pytest.raises(CommandFailed, match="EMPTY" if make else "NOT_FOUND"):
        find_documents(str(folder))


def chunk(text: str, *path: str) -> dict[str, Any]:
    return {"text": text, "heading_path": list(path)}


def test_questions_come_from_headings_of_several_sources_by_turns() -> None:
    first = ("Cats", [chunk("x", "Cats"), chunk("y", "Cats", "Food")])
    second = ("Dogs", [chunk("x", "Dogs", "Walks"), chunk("y", "Dogs", "Food")])
    assert derived([first, second]) == ["Cats: Food", "Dogs: Food", "Cats"]


def test_a_text_without_title_or_headings_is_asked_about_by_its_words() -> None:
    text = " ".join(f"word{number}" for number in range(25))
    questions = derived([(None, [chunk(text)])])
    assert [question.split()[0] for question in questions] == ["word0", "word10", "word20"]
