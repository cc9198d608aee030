"""Anchors of headings as GitHub makes them."""

from __future__ import annotations

import re

_DROPPED = re.compile(r"[^\w\- ]")


class Slugs:
    """Makes the anchors of one document, each of them once."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def __call__(self, heading: str) -> str:
        """Return the anchor of `heading`; the second of the same name ends in -1."""
        base = _DROPPED.sub("", heading.strip().lower()).replace(" ", "-")
        slug = base
        while slug in self._taken:
            self._taken[base] += 1
            slug = f"{base}-{self._taken[base]}"
        self._taken[slug] = 0
        return slug
