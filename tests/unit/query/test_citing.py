from __future__ import annotations

from typing import Any

import pytest

from services.query.citing import deep_link


@pytest.mark.parametrize(
    ("url", "locator", "expected"),
    [
        ("https://x.test/a", {"anchor": "part-2"}, "https://x.test/a#part-2"),
        ("https://x.test/a#old", {"anchor": "new one"}, "https://x.test/a#new%20one"),
        ("https://x.test/a", {"anchor": 'a"><script>'}, "https://x.test/a#a%22%3E%3Cscript%3E"),
        ("https://x.test/a.pdf", {"page": 12, "label": "xii"}, "https://x.test/a.pdf#page=12"),
        ("https://x.test/a", {"slide": 3}, "https://x.test/a"),
        ("https://x.test/a", {}, "https://x.test/a"),
        (None, {"anchor": "x"}, None),
    ],
)
def test_links(url: str | None, locator: dict[str, Any], expected: str | None) -> None:
    assert deep_link(url, locator) == expected
