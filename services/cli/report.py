"""Parts of the reports that are one HTML page and need nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

_BARS = 10
_WIDTH, _HEIGHT, _MARGIN = 420, 120, 20
_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #8886; }
ol { margin: 0; padding-left: 1.4rem; } code { font-size: 12px; }
svg { max-width: 100%; height: auto; } rect { fill: #3b7dd8; } text { font-size: 11px; fill: currentColor; }
.hit { font-weight: 600; } .new { font-weight: 700; } .wide { overflow-x: auto; }
"""


def html_page(title: str, parts: Iterable[str]) -> str:
    """The whole page; `parts` are HTML already."""
    head = [
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body><h1>{escape(title)}</h1>",
    ]
    return "\n".join([*head, *parts, "</body></html>\n"])


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Cells are HTML already."""
    yield '<div class="wide"><table><thead><tr>'
    yield "".join(f'<th scope="col">{escape(name)}</th>' for name in head) + "</tr></thead><tbody>"
    for row in rows:
        yield "<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>"
    yield "</tbody></table></div>"


def histogram(values: Sequence[float], least: float = 0.0) -> str:
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
