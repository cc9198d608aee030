"""Free fields of a source, and their bounds."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import AfterValidator, Field

METADATA_BYTES = 8192
"""As JSON in UTF-8: what is shown beside a source, not a document."""

METADATA_DEPTH = 32
"""Events are written by a library that takes 255 levels, the frame around included."""


def _checked(metadata: dict[str, Any]) -> dict[str, Any]:
    _check_depth(metadata)
    try:
        size = len(json.dumps(metadata, ensure_ascii=False, allow_nan=False).encode())
    except UnicodeEncodeError:
        raise ValueError("holds characters that can't be encoded") from None
    if size > METADATA_BYTES:
        raise ValueError(f"has {size} bytes as JSON, more than {METADATA_BYTES}")
    return metadata


def _check_depth(metadata: dict[str, Any]) -> None:
    level: list[Any] = [metadata]
    for _ in range(METADATA_DEPTH):
        level = [
            inner
            for outer in level
            if isinstance(outer, (dict, list))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    if level:
        raise ValueError(f"is nested more than {METADATA_DEPTH} levels deep")


Metadata = Annotated[
    dict[str, Any], AfterValidator(_checked), Field(description=f"Free fields, at most {METADATA_BYTES} bytes as JSON.")
]
