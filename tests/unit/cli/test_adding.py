"""What `kb add` refuses before it asks anybody."""

from __future__ import annotations

import pytest

from tests.unit.cli.conftest import Kb


@pytest.mark.parametrize(
    "arguments",
    [
        ("add", "-", "--crawl"),
        ("add", "notes.txt", "--crawl"),
        ("add", "https://x.test/", "--depth", "2"),
        ("add", "https://x.test/", "--crawl", "--max-pages", "0"),
    ],
)
def test_crawls_that_can_not_be(kb: Kb, arguments: tuple[str, ...]) -> None:
    ended = kb(*arguments)
    assert ended.code == 2
    assert "crawl" in ended.error or "max-pages" in ended.error
