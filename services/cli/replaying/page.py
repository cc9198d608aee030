"""The comparison as one HTML page that needs nothing else: distributions as inline SVG, the most changed queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from services.cli.replaying.summary import MEASURES

_TITLES = {
    "overlap": "Overlap of the first k",
    "rbo": "Rank-biased overlap (p = .9)",
    "tau": "Kendall's tau of what both answers hold",
}
_LEAST = {"overlap": 0.0, "rbo": 0.0, "tau": -1.0}
_SHOWN = 100
_BARS = 10
_WIDTH, _HEIGHT, _MARGIN = 420, 120, 20
_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #8886; }
code { font-size: 12px; } .new { font-weight: 700; } .wide { overflow-x: auto; }
svg { max-width: 100%; height: auto; } rect { fill: #3b7dd8; } text { font-size: 11px; fill: currentColor; }
"""


def page(result: Mapping[str, Any]) -> str:
    """The whole page."""
    asked = ", ".join(f"{name} {result[name]}" for name in ("fusion", "space", "k") if result[name] is not None)
    parts = [
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Replayed queries</title><style>{_STYLE}</style></head><body><h1>Replayed queries</h1>",
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
    return "\n".join([*parts, "</body></html>\n"])


def _figures(result: Mapping[str, Any]) -> Iterator[str]:
    rows = [(name, result[name]) for name in (*MEASURES, "took_ms_before", "took_ms")]
    yield from _table(
        ["measure", *rows[0][1]],
        [[name, *map(_number, distribution.values())] for name, distribution in rows],
    )


def _queries(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "<h2>Most changed queries</h2><p>Chunks by the beginning of their ids; those that are new are bold.</p>"
    yield from _table(
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


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Cells are HTML already."""
    yield '<div class="wide"><table><thead><tr>'
    yield "".join(f'<th scope="col">{escape(name)}</th>' for name in head) + "</tr></thead><tbody>"
    for row in rows:
        yield "<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>"
    yield "</tbody></table></div>"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


def histogram(values: Sequence[float], least: float) -> str:
    """How many values lie in each tenth between `least` and 1, as an SVG element."""
    counts = [0] * _BARS
    for value in values:
        counts[min(_BARS - 1, int((value - least) / (1 - least) * _BARS))] += 1
    step, foot = _WIDTH / _BARS, _HEIGHT + 2 * _MARGIN
    parts = []
    for place, count in enumerate(counts):
        height = _HEIGHT * count / max(1, *counts)
        left, top = place * step, _MARGIN + _HEIGHT - height
        parts.append(f'<rect x="{left + 2:.1f}" y="{top:.1f}" width="{step - 4:.1f}" height="{height:.1f}"/>')
        parts.append(f'<text x="{left + step / 2:.1f}" y="{top - 4:.1f}" text-anchor="middle">{count}</text>')
        parts.append(f'<text x="{left:.1f}" y="{foot - 5}">{least + (1 - least) * place / _BARS:.1f}</text>')
    label = "Queries in each tenth: " + ", ".join(map(str, counts))
    size = f'viewBox="0 0 {_WIDTH} {foot}" width="{_WIDTH}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{label}" {size}>{"".join(parts)}</svg>'
