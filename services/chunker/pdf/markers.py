"""What stands before the items of a list: bullets, numbers, letters."""

from __future__ import annotations

import re

# Bullets of text fonts, and those of symbol fonts, which lie in the private area.
_CERTAIN = "•◦▪▫‣⁃∙●○■□◆◇▶►➢➤✓✔☐☑☒"
_BULLET = re.compile(r"(?:[•◦▪▫‣⁃∙●○■□◆◇▶►➢➤✓✔☐☑☒\uf000-\uf0ff]|[-–—*·o](?=\s))\s*")
_NUMBER = re.compile(r"(\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)])(?:\s+|$)")


def bullet(text: str) -> str | None:
    """The bullet that `text` begins with, and the blanks after it."""
    found = _BULLET.match(text)
    return found[0] if found else None


def number(text: str) -> str | None:
    """The number or letter, with its point or bracket, that `text` begins with."""
    found = _NUMBER.match(text)
    return found[1] if found else None


def is_certain(marker: str) -> bool:
    """Whether `marker` can't be a part of a sentence."""
    return marker[0] in _CERTAIN or "\uf000" <= marker[0] <= "\uf0ff"


def is_tick(marker: str) -> bool:
    """Whether `marker` is a box or tick, which says something of the item."""
    return marker[0] in "✓✔☐☑☒"


def is_marker(text: str) -> bool:
    """Whether `text` is a marker and no more."""
    return (bullet(text) or number(text) or "").strip() == text.strip()
