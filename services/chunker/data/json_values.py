"""JSON and JSON Lines, read into values whose scalars are text already."""

from __future__ import annotations

import json
import re
from typing import TypeAlias

from schemas.codes import Code
from services.chassis.errors import SourceRefused

# Numbers stand as they were written.
Value: TypeAlias = "str | bool | list[Value] | dict[str, Value] | None"

DEEPEST = 128
# A string that is never closed ends the text; nothing is tried twice, so time grows with the length alone.
_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str, strict=False)


def read_json(text: str) -> Value:
    """Read one JSON value, or a list of those that stand a line each.

    Raises SourceRefused with TOO_DEEP above DEEPEST levels, or BROKEN.
    """
    refuse_deep(text)
    try:
        value: Value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        lines = _read_lines(text)
        if lines is None:
            raise SourceRefused(Code.BROKEN, f"no valid JSON: {error}") from error
        return lines
    return value


def refuse_deep(text: str) -> None:
    """Raise SourceRefused(TOO_DEEP) when brackets are nested more than DEEPEST levels."""
    if text.count("[") + text.count("{") <= DEEPEST:
        return
    depth = 0
    for found in _BRACKETS.finditer(text):
        bracket = found[0]
        if bracket in "[{":
            depth += 1
            if depth > DEEPEST:
                raise SourceRefused(Code.TOO_DEEP, f"values are nested more than {DEEPEST} levels")
        elif bracket in "]}":
            depth -= 1


def _read_lines(text: str) -> list[Value] | None:
    """The values of JSON Lines; None when a line is no value, or all is one line."""
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < 2:
        return None
    try:
        return [_DECODER.decode(line.strip()) for line in lines]
    except json.JSONDecodeError:
        return None
