from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from services.query.freshness import freshness_of

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("days", "expected"), [(0, "refreshed"), (29.9, "refreshed"), (30, "aging"), (89.9, "aging"), (90, "stale")]
)
def test_the_badge_follows_the_age(days: float, expected: str) -> None:
    assert freshness_of(NOW - timedelta(days=days), NOW) == expected


def test_what_was_never_fetched_has_none() -> None:
    assert freshness_of(None) is None
