"""Lines of a paragraph joined: words that were divided at a line's end are put together again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from services.chunker.pdf.rows import glue

_LONGEST_WORD = 100
_DIVIDED = re.compile(r"([^\W\d_]{2,})[-‐]$")
_REST = re.compile(r"[^\W\d_]+")
_COMPOUND = re.compile(r"[^\W\d_]+(?:[-‐][^\W\d_]+)+")
_ADDRESS = re.compile(r"(?:https?:|www\.|[\w.]+/)\S*[-/._=?&%]$")


def compounds(texts: Iterable[str]) -> frozenset[str]:
    """The words that the document writes with a hyphen within its lines, in lower case."""
    return frozenset(found.lower() for text in texts if "-" in text or "‐" in text for found in _COMPOUND.findall(text))


def joined_lines(lines: Sequence[str], known: frozenset[str]) -> str:
    """The lines as one text; `known` are words whose hyphen is their own."""
    pieces: list[str] = []
    for line in lines:
        if pieces and line:
            pieces[-1] = _before(pieces[-1], line, known)
        pieces.append(line)
    return " ".join("".join(pieces).split())


def _before(line: str, following: str, known: frozenset[str]) -> str:
    """`line` as it stands before the line that follows: with a blank at its end, or without its hyphen."""
    tail = line[line.rfind(" ") + 1 :][-_LONGEST_WORD:]
    if _ADDRESS.fullmatch(tail):
        return line
    divided = _DIVIDED.search(tail)
    rest = _REST.match(following)
    if divided is None or rest is None:
        # The hyphen of a number or code stays, and so does its other half: no blank between them.
        is_code = len(tail) > 1 and tail[-1] in "-‐–" and tail[-2].isalnum()
        return line if is_code else line + glue(line, following)
    own = f"{divided[1]}-{rest[0]}".lower() in known or "-" in tail[:-1] or not rest[0][0].islower()
    return line if own or divided[1].isupper() else line[:-1]
