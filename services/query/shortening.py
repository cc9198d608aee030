"""Keeps the texts of an answer within a number of tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence

from services.encoder.tokens import count_tokens, token_starts

_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*(?=\s)|[。！？｡][」』”）]*|\n")
_WORD_END = re.compile(r"\S(?=\s)")


def shorten(texts: Sequence[str], budget: int) -> list[str]:
    """The texts in order, as long as there are tokens (cl100k) left: one is cut, those behind it are empty."""
    shortened = []
    for text in texts:
        if not budget:
            shortened.append("")
            continue
        tokens = count_tokens(text)
        shortened.append(text if tokens <= budget else cut(text, budget))
        budget = max(0, budget - tokens)
    return shortened


def cut(text: str, budget: int) -> str:
    """The beginning of a text that has at most `budget` tokens, up to the end of a sentence or at least of a word."""
    starts = token_starts(text)
    for tokens in range(min(budget, len(starts) - 1), 0, -1):
        kept = _at_an_end(text, int(starts[tokens]))
        # What is cut can be divided into more tokens than it was as a part of the whole.
        if count_tokens(kept) <= budget:
            return kept
    return ""


def _at_an_end(text: str, length: int) -> str:
    """`text[:length]` without what is begun. An end that would cost more than half of it is not looked for."""
    if length == len(text):
        return text
    for ends in (_SENTENCE_END, _WORD_END):
        # One character more, by which an end right at the cut is seen.
        found = [match.end() for match in ends.finditer(text, 0, length + 1) if match.end() <= length]
        if found and found[-1] * 2 >= length:
            return text[: found[-1]].rstrip()
    return text[:length].rstrip()
