"""Free fields have bounds, which hold for every publisher."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from pydantic import ValidationError

from schemas.events import SourceMetadataChanged
from schemas.events.metadata import METADATA_BYTES, METADATA_DEPTH


def nested(levels: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(levels - 1):
        found = {"k": found}
    return found


def wish(metadata: dict[str, Any]) -> SourceMetadataChanged:
    return SourceMetadataChanged(organization_id=uuid4(), external_id="a", metadata=metadata)


@pytest.mark.parametrize("metadata", [{"k": "ü" * (METADATA_BYTES // 2 - 5)}, nested(METADATA_DEPTH - 1)])
def test_up_to_the_bounds(metadata: dict[str, Any]) -> None:
    assert wish(metadata).metadata == metadata


@pytest.mark.parametrize(
    "metadata",
    [{"k": "ü" * (METADATA_BYTES // 2)}, nested(METADATA_DEPTH + 2), {"k": float("nan")}, {"k": float("inf")}],
    ids=["bytes", "levels", "NaN", "infinity"],
)
def test_above_the_bounds(metadata: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        wish(metadata)
