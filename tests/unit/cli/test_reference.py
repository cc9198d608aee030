"""The pages of docs/ say what the code says. `make docs` writes them anew."""

from __future__ import annotations

import re

import pytest

from schemas.codes import Code
from services.cli.reference import DOCS, pages, settings_classes, variables

PAGES = pages()


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_is_what_the_code_gives(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name], "make docs"


def test_every_variable_of_every_service_is_there_once_with_its_meaning() -> None:
    rows = [line for line in PAGES["settings.md"].splitlines() if line.startswith("| `")]
    for settings in settings_classes():
        for name in settings.model_fields:
            for variable in variables(settings, name):
                (row,) = (row for row in rows if f"`{variable}`" in row.split(" | ")[0])
                assert row


def test_no_code_is_left_out() -> None:
    assert set(re.findall(r"^\| `(\w+)`", PAGES["errors.md"], re.MULTILINE)) == {str(code) for code in Code}


def test_links_between_pages_lead_somewhere() -> None:
    for page in (DOCS.parent / "README.md", *DOCS.rglob("*.md")):
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
