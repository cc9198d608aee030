"""How old what is known of a page is, for the badge beside it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal

Freshness = Literal["refreshed", "aging", "stale"]

AGING, STALE = timedelta(days=30), timedelta(days=90)


def freshness_of(last_fetched: datetime | None, now: datetime | None = None) -> Freshness | None:
    """refreshed within 30 days, aging, or stale from 90 days on; None for what was never fetched."""
    if last_fetched is None:
        return None
    age = (now or datetime.now(UTC)) - last_fetched
    return "stale" if age >= STALE else "aging" if age >= AGING else "refreshed"
