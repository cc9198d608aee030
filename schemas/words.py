"""How a text becomes words that are searched: what the indexer writes and the query service asks must be cut alike.

Prose goes through Postgres' own parser and the stemmer of its language. What that parser would tear or lose goes beside
it as verbatim lexemes: identifiers, paths, versions and error codes whole, and pairs of neighbouring characters for
scripts that put no blanks between words.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

_LONGEST_LEXEME = 200  # characters; Postgres takes 2,046 bytes
_LAST_POSITION = 16_383  # of a tsvector

# Han, kana, hangul, Thai, Lao, Khmer, Myanmar, Tibetan.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_TOKEN = re.compile(r"[^\s\"'`()\[\]{}<>,;|*!?“”‘’«»…。、，．：；！？「」『』（）【】]+")
_MARKED = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]|[^\W\d_]\d|\d[^\W\d_]|_|[^\W_][./\\:@=&~^$%+#]+[^\W_]|[^\W_]-+\d")
_ENDS = ".:-–—=&%$@~^/\\+#"
_LETTER_AND_SIGNS = re.compile(r"[A-Za-z]\w*(?:\+\+|#)")
_BETWEEN = re.compile(r"[^\w]+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_]+")
_NUMBER = re.compile(r"\d+(?:\.\d+)+")
_JOINT = re.compile(r"(?:/|\\|::|\.(?=[^\W\d]\w*[.:/\\]))+(?=.*?\W)")
_LAST_COMPONENTS = 3


def _plain_letters() -> dict[int, str]:
    """Latin letters without their marks; other scripts keep theirs, which carry meaning."""
    plain = {ord(a): b for a, b in zip("ßæœøđðłıþ", ("ss", "ae", "oe", "o", "d", "d", "l", "i", "th"), strict=True)}
    plain |= {ord(a): b for a, b in zip("ÆŒØĐÐŁÞ", ("AE", "OE", "O", "D", "D", "L", "TH"), strict=True)}
    for code in (*range(0xC0, 0x250), *range(0x1E00, 0x1F00)):
        base = unicodedata.normalize("NFD", chr(code))[0]
        if code not in plain and base.isascii():
            plain[code] = base
    return plain


_PLAIN_LETTERS = _plain_letters()


class Words(NamedTuple):
    """A text cut for search: `prose` for the stemmer, `verbatim` lexemes in their order, as often as they occur."""

    prose: str
    verbatim: list[str]

    def vector(self) -> str:
        """The verbatim lexemes with their places, in the text form of a tsvector."""
        places: dict[str, list[int]] = defaultdict(list)
        for place, lexeme in enumerate(self.verbatim, 1):
            places[lexeme].append(min(place, _LAST_POSITION))
        return " ".join(f"{quoted(lexeme)}:{','.join(map(str, where))}" for lexeme, where in places.items())


def quoted(lexeme: str) -> str:
    """A lexeme as it stands in the text form of a tsvector or tsquery, whatever characters it holds."""
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"


def words_of(text: str) -> Words:
    """Cut a text, or a query, into words."""
    verbatim: list[str] = []
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_PLAIN_LETTERS)
        text = _UNSPACED.sub(lambda run: _pairs(run[0], verbatim), text)
    return Words(_TOKEN.sub(lambda token: _token(token[0], verbatim), text), verbatim)


def _pairs(run: str, verbatim: list[str]) -> str:
    verbatim.extend([run[at : at + 2] for at in range(max(1, len(run) - 1))])
    return " "


def _token(token: str, verbatim: list[str]) -> str:
    """The prose that stands for a token."""
    bare = token.strip(_ENDS)
    if token[-1] in "+#" and _LETTER_AND_SIGNS.fullmatch(token):
        verbatim.append(token.lower())
        return bare
    # Nearly all tokens end here, so this comes before the expression.
    if (bare.isalpha() and (bare[1:].islower() or bare.isupper())) or not _MARKED.search(bare):
        return token
    return _compound(bare, verbatim)


def _compound(token: str, verbatim: list[str]) -> str:
    parts: list[str] = []
    components = [component for component in _BETWEEN.split(token) if component]
    if len(components) > 1:
        verbatim.extend(_wholes(token.lower()))
    for component in components:
        found = _PART.findall(component)
        if len(found) > 1 or "_" in component:
            verbatim.append(component.lower()[:_LONGEST_LEXEME])
        parts.extend(part for part in found if len(part) > 2 or (len(part) == 2 and not part.isdigit()))
    return " ".join(parts) or " "


def _wholes(token: str) -> Iterator[str]:
    """A compound token, and what of it people ask for: the numbers of versions, the last components of paths."""
    yield token[:_LONGEST_LEXEME]
    yield from (number for number in _NUMBER.findall(token) if number != token)
    joints = [joint.end() for joint in _JOINT.finditer(token)]
    # Of a longer path nobody gives more and still not all.
    for start in joints[-_LAST_COMPONENTS:]:
        yield token[start:][:_LONGEST_LEXEME]
