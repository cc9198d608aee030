"""The words by which pages say that they are no content: short ones, as they stand in titles, headings and buttons."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files

_PHRASES: dict[str, list[str]] = tomllib.loads(files(__package__).joinpath("phrases.toml").read_text(encoding="utf-8"))
_STATUS = r"\b(?:40[01345]|410|429|50[0234]|52[0-7])\b"
_MOST_BESIDE = 0.4
_LONGEST_PART = 200
_LONGEST_LINE = 500
# Parts of a title, of which any can be other than the site's name.
_SEPARATOR = re.compile(r" [-–—:•·|»«]+ |[|·»«]|: ")
_LETTERS = re.compile(r"[^\W_]")


def _any_of(*names: str, further: str = "") -> re.Pattern[str]:
    """Any of the phrases, the longest that fits, as whole words where the script has spaces between them."""
    phrases = sorted((phrase for name in names for phrase in _PHRASES[name]), key=len, reverse=True)
    spaced = "|".join(re.escape(phrase) for phrase in phrases if phrase < "\u1000")
    unspaced = [phrase for phrase in phrases if phrase >= "\u1000"]
    return re.compile("|".join(filter(None, [rf"\b(?:{spaced})\b", *unspaced, further])), re.IGNORECASE)


_LOGIN = _any_of("login")
_MISSING = _any_of("missing")
_ERROR = _any_of("missing", "failed", "refused", "challenge", further=_STATUS)
_BESIDE = _any_of("beside", further=_STATUS)


def says_login(line: str) -> bool:
    """Whether a title, a heading or a button asks to log in."""
    return _LOGIN.search(line) is not None


def error_name(line: str) -> str | None:
    """The error that a title or a heading, or a part of it beside the site's name, is the name of.

    None for other lines, and for those about an error.
    """
    return _named(line, _ERROR)


def says_missing(line: str) -> bool:
    """Whether it is an error's name that says in words, not by a number alone, that something isn't there."""
    return _named(line, _MISSING) is not None


def _named(line: str, phrases: re.Pattern[str]) -> str | None:
    if len(line) > _LONGEST_LINE:
        return None
    straight = line.replace("’", "'")
    for part in (straight, *_SEPARATOR.split(straight)):
        found = phrases.search(part)
        if found and len(part) <= _LONGEST_PART and _has_little_else(part, phrases):
            return found[0]
    return None


def _has_little_else(part: str, phrases: re.Pattern[str]) -> bool:
    rest = _BESIDE.sub("", phrases.sub("", part))
    return len(_LETTERS.findall(rest)) <= _MOST_BESIDE * len(_LETTERS.findall(part))
