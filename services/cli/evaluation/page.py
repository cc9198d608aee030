"""The report as one HTML page that needs nothing else: figures, distributions as inline SVG, the worst queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from services.cli.evaluation.asking import Asked
from services.cli.evaluation.collection import Document
from services.cli.evaluation.evaluation import Evaluated
from services.cli.evaluation.measures import ndcg
from services.cli.report import histogram, html_page, table

FIGURES = ("set", "fusion", "model", "nDCG@10", "recall@30", "MRR@10", "queries", "documents", "chunks", "failed", "k")
_WORST = 20
_FOUND = 3


def page(results: Sequence[Evaluated]) -> str:
    """The whole page."""
    parts = [*_figures([result.figures() for result in results])]
    for result in results:
        parts += _section(result)
    return html_page("Retrieval quality", parts)


def _figures(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield from table([*FIGURES, "search, ms"], map(_cells, rows))


def _cells(row: Mapping[str, Any]) -> list[str]:
    cells = [len(row[name]) if name == "failed" else row[name] for name in FIGURES]
    times = " / ".join(f"{name} {value}" for name, value in (row["search_ms"] or {}).items())
    return [escape(str(cell)) for cell in [*cells, times]]


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
    rows = []
    for score, asked in scored:
        ranks = {document: rank for rank, document in enumerate(asked.ranking, 1)}
        wanted = "; ".join(f"{_name(id, documents)}: {ranks.get(id, 'not found')}" for id in asked.query.relevant)
        found = "".join(_found(id, documents, id in asked.query.relevant) for id in asked.ranking[:_FOUND])
        rows.append([f"{score:.3f}", escape(asked.query.text), escape(wanted), f"<ol>{found}</ol>"])
    yield from table(["nDCG@10", "query", "should be found, at", "found"], rows)


def _found(id: str, documents: Mapping[str, Document], is_hit: bool) -> str:
    return f'<li class="{"hit" if is_hit else "miss"}">{escape(_name(id, documents))}</li>'


def _name(id: str, documents: Mapping[str, Document]) -> str:
    title = documents[id].title
    return f"{title} ({id})" if title else id
