"""How chunks are made, as one word that is compared: equal recipes on an equal body give equal chunks."""

from __future__ import annotations

CHUNKER_VERSION = 1
"""Rises when the same body would be cut in another way, so that refreshes cut it anew."""


def cutting(preset: str) -> str:
    """The chunker's part."""
    return f"{CHUNKER_VERSION}/{preset}"


def recipe(cutting: str, space: str | None) -> str:
    """The whole: how it was cut, and the embedding space."""
    return f"{cutting}/{space or 'none'}"
