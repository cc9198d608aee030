"""What the comparisons of all queries come to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any
from uuid import UUID

from services.cli.replaying.agreement import kendall_tau, overlap, rank_biased_overlap

_QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
MEASURES = ("overlap", "rbo", "tau")


@dataclass(frozen=True, slots=True)
class Compared:
    """One query. `before` is what was answered then, without the chunks that are no longer there."""

    query: str
    occurred_at: str
    k: int
    before: list[UUID]
    after: list[UUID]
    gone: int
    took_ms_before: float
    took_ms: float

    @property
    def figures(self) -> dict[str, float | None]:
        """Each measure by its name."""
        return {
            "overlap": overlap(self.before, self.after, self.k),
            "rbo": rank_biased_overlap(self.before, self.after),
            "tau": kendall_tau(self.before, self.after),
        }


def summary(compared: Sequence[Compared]) -> dict[str, Any]:
    """Mean and distribution of each measure, then the queries, most changed first."""
    rows = [{**asdict(each), **each.figures} for each in compared]
    rows.sort(key=lambda row: (row["rbo"], row["overlap"]))
    return {
        "queries": len(rows),
        "unchanged": sum(each.before == each.after for each in compared),
        "gone_chunks": sum(each.gone for each in compared),
        **{name: _distribution([row[name] for row in rows if row[name] is not None]) for name in MEASURES},
        "took_ms_before": _distribution([each.took_ms_before for each in compared]),
        "took_ms": _distribution([each.took_ms for each in compared]),
        "compared": rows,
    }


def _distribution(values: Sequence[float]) -> dict[str, float | int | None]:
    """Quantiles are values that occur: the smallest that so many do not exceed."""
    found: dict[str, float | int | None] = {"count": len(values), "mean": fmean(values) if values else None}
    ordered = sorted(values)
    for share in _QUANTILES:
        place = max(0, -(-len(ordered) * round(share * 100) // 100) - 1)
        found[f"p{share * 100:.0f}"] = ordered[place] if ordered else None
    return found
