"""Letters as a reader types them: composed, ligatures and presentation forms taken apart."""

from __future__ import annotations

import re
import unicodedata

# Accents that fonts draw as characters of their own, and the combining ones.
_ACCENTS = dict(
    zip("`´ˆ˜¨ˇ˘˚¸˙˝˛", "\u0300\u0301\u0302\u0303\u0308\u030c\u0306\u030a\u0327\u0307\u030b\u0328", strict=True)
)
_ACCENTED = re.compile("([^\\W\\d_]?)([´ˆ˜¨ˇ˘˚¸˙˝˛])([^\\W\\d_]?)")
_VOWELS = frozenset("aeiouAEIOUıy")


def plain(text: str) -> str:
    """Return the word `text` in plain letters."""
    if text.isascii():
        return text
    text = _ACCENTED.sub(_composed, text)
    text = "".join([unicodedata.normalize("NFKC", one) if _is_form(one) else one for one in text])
    return unicodedata.normalize("NFC", text).replace("\u200b", "").replace("\u00ad", "")


def _is_form(letter: str) -> bool:
    """Whether `letter` is a ligature or the form of an Arabic letter at its place in a word."""
    return "\ufb00" <= letter <= "\ufefc" or letter == "\u017f"


def _composed(found: re.Match[str]) -> str:
    """An accent put on the letter before it, or on the one after it as TeX's old fonts have it."""
    before, accent, after = found.groups()
    onto_before = _onto(before, accent)
    onto_after = _onto(after, accent)
    if onto_after and (not onto_before or (after in _VOWELS and before not in _VOWELS and accent != "¸")):
        return before + onto_after
    return onto_before + after if onto_before else found[0]


def _onto(letter: str, accent: str) -> str:
    both = unicodedata.normalize("NFC", {"ı": "i", "ȷ": "j"}.get(letter, letter) + _ACCENTS[accent]) if letter else ""
    return both if len(both) == 1 else ""
