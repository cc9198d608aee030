"""Where a reader finds a chunk in the original."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

_FRAGMENT = "!$&'()*+,;=:@/?-._~"


def deep_link(url: str | None, locator: Mapping[str, Any]) -> str | None:
    """The source's URL with the anchor, or the page of a PDF, at which the chunk begins; None without a URL."""
    if url is None:
        return None
    if anchor := locator.get("anchor"):
        return f"{url.partition('#')[0]}#{quote(str(anchor), safe=_FRAGMENT)}"
    if page := locator.get("page"):
        return f"{url.partition('#')[0]}#page={page}"
    return url
