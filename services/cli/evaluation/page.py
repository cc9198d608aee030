"""The report as one HTML page that needs nothing else: figures, distributions as inline SVG, the worst queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from services.cli.evaluation.asking import Asked
from services.cli.evaluation.collection import Document
from services.cli.evaluation.evaluation import Evaluated
from services.cli.evaluation.measures import ndcg

FIGURES = ("set", "fusion", "model", "nDCG@10", "recall@30", "MRR@10", "queries", "documents", "chunks", "failed", "k")
_BARS = 10
_WORST = 20
_FOUND = 3
_WIDTH, _HEIGHT, _FOOT = 420, 120, 20
_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #8886; }
ol { margin: 0; padding-left: 1.4rem; }
svg { max-width: 100%; height: auto; }
svg rect { fill: #3b7dd8; } svg text { font-size: 11px; fill: currentColor; }
.hit { font-weight: 600; } .overflow { overflow-x: auto; }
"""


def page(results: Sequence[Evaluated]) -> str:
    """The whole page."""
    parts = [
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Retrieval quality</title><style>{_STYLE}</style></head><body><h1>Retrieval quality</h1>",
        *_figures([result.figures() for result in results]),
    ]
    for result in results:
        parts += _section(result)
    return "\n".join([*parts, "</body></html>\n"])


def _figures(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield '<div class="overflow"><table><thead><tr>'
    yield "".join(f'<th scope="col">{escape(name)}</th>' for name in FIGURES) + '<th scope="col">search, ms</th></tr>'
    yield "</thead><tbody>"
    for row in rows:
        cells = [len(row[name]) if name == "failed" else row[name] for name in FIGURES]
        times = " / ".join(f"{name} {value}" for name, value in (row["search_ms"] or {}).items())
        yield "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in [*cells, times]) + "</tr>"
    yield "</tbody></table></div>"


def _section(result: Evaluated) -> Iterator[str]:
    scored = sorted(
        ((ndcg(each.ranking, each.query.relevant), each) for each in result.asked), key=lambda pair: pair[0]
    )
    yield f"<h2>{escape(result.collection.name)}: {escape(result.fusion)}</h2>"
    yield "<h3>nDCG@10 of the queries</h3>"
    yield histogram([score for score, _ in scored])
    worst = [pair for pair in scored[:_WORST] if pair[0] < 1]
    if worst:
        yield "<h3>Worst queries</h3>"
        yield from _queries(worst, result.documents())
    if result.ingested.failed:
        yield "<h3>Documents that failed</h3><ul>"
        for id, (code, reason) in sorted(result.ingested.failed.items()):
            yield f"<li>{escape(id)}: {escape(code)}: {escape(reason)}</li>"
        yield "</ul>"


def _queries(scored: Sequence[tuple[float, Asked]], documents: Mapping[str, Document]) -> Iterator[str]:
    yield '<div class="overflow"><table><thead><tr>'
    yield "".join(f'<th scope="col">{name}</th>' for name in ("nDCG@10", "query", "should be found, at", "found"))
    yield "</tr></thead><tbody>"
    for score, asked in scored:
        ranks = {document: rank for rank, document in enumerate(asked.ranking, 1)}
        wanted = "; ".join(f"{_name(id, documents)}: {ranks.get(id, 'not found')}" for id in asked.query.relevant)
        found = "".join(_found(id, documents, id in asked.query.relevant) for id in asked.ranking[:_FOUND])
        cells = (f"{score:.3f}", escape(asked.query.text), escape(wanted), f"<ol>{found}</ol>")
        yield "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
    yield "</tbody></table></div>"


def _found(id: str, documents: Mapping[str, Document], is_hit: bool) -> str:
    return f'<li class="{"hit" if is_hit else "miss"}">{escape(_name(id, documents))}</li>'


def _name(id: str, documents: Mapping[str, Document]) -> str:
    title = documents[id].title
    return f"{title} ({id})" if title else id


def histogram(scores: Sequence[float]) -> str:
    """How many scores, from 0 to 1, lie in each tenth, as an SVG element."""
    counts = [0] * _BARS
    for score in scores:
        counts[min(_BARS - 1, int(score * _BARS))] += 1
    step = _WIDTH / _BARS
    parts = []
    for place, count in enumerate(counts):
        height = _HEIGHT * count / max(counts)
        left, top = place * step, _HEIGHT - height + _FOOT
        parts.append(f'<rect x="{left + 2:.1f}" y="{top:.1f}" width="{step - 4:.1f}" height="{height:.1f}"/>')
        parts.append(f'<text x="{left + step / 2:.1f}" y="{top - 4:.1f}" text-anchor="middle">{count}</text>')
        foot = _HEIGHT + 2 * _FOOT - 5
        parts.append(f'<text x="{left:.1f}" y="{foot}">{place / _BARS:.1f}</text>')
    label = "Number of queries in each tenth: " + ", ".join(map(str, counts))
    size = f'viewBox="0 0 {_WIDTH} {_HEIGHT + 2 * _FOOT}" width="{_WIDTH}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{label}" {size}>{"".join(parts)}</svg>'
