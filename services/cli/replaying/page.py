"""The comparison as one HTML page that needs nothing else: distributions as inline SVG, the most changed queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from services.cli.replaying.summary import MEASURES
from services.cli.report import histogram, html_page, table

_TITLES = {
    "overlap": "Overlap of the first k",
    "rbo": "Rank-biased overlap (p = .9)",
    "tau": "Kendall's tau of what both answers hold",
}
_LEAST = {"overlap": 0.0, "rbo": 0.0, "tau": -1.0}
_SHOWN = 100


def page(result: Mapping[str, Any]) -> str:
    """The whole page."""
    asked = ", ".join(f"{name} {result[name]}" for name in ("fusion", "space", "k") if result[name] is not None)
    parts = [
        f"<p>Organization {escape(str(result['organization']))}. Asked with {escape(asked or 'what they were')}.</p>",
        f"<p>{result['queries']} queries, of which {result['unchanged']} are answered as before; "
        f"{result['without_text']} more are in the log without their texts. "
        f"{result['gone_chunks']} chunks of the old answers are gone, and are left out.</p>",
        *_figures(result),
    ]
    for name in MEASURES:
        values = [row[name] for row in result["compared"] if row[name] is not None]
        parts += [f"<h2>{escape(_TITLES[name])}</h2>", histogram(values, _LEAST[name])]
    parts += _queries(result["compared"][:_SHOWN])
    return html_page("Replayed queries", parts)


def _figures(result: Mapping[str, Any]) -> Iterator[str]:
    rows = [(name, result[name]) for name in (*MEASURES, "took_ms_before", "took_ms")]
    yield from table(
        ["measure", *rows[0][1]],
        [[name, *map(_number, distribution.values())] for name, distribution in rows],
    )


def _queries(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "<h2>Most changed queries</h2><p>Chunks by the beginning of their ids; those that are new are bold.</p>"
    yield from table(
        ["query", *MEASURES, "then", "now"],
        [
            [
                escape(row["query"]),
                *(_number(row[name]) for name in MEASURES),
                _chunks(row["before"], row["before"]),
                _chunks(row["after"], row["before"]),
            ]
            for row in rows
        ],
    )


def _chunks(ids: Sequence[Any], known: Sequence[Any]) -> str:
    return "<br>".join(f'<code class="{"" if id in known else "new"}">{escape(str(id)[:8])}</code>' for id in ids)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)
