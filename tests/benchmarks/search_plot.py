"""The growth of an organization as a picture: milliseconds over chunks, both on logarithmic axes."""

from __future__ import annotations

import math
from typing import Any

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 360, 60, 20, 120, 50
LINES = (("p50", "#1f77b4"), ("p95", "#d62728"))


def plot(points: list[dict[str, Any]]) -> str:
    """An SVG document. `points` have chunks, route, p50, p95 and recall_at_10."""
    chunks = [point["chunks"] for point in points]
    left, right = math.log10(min(chunks)), math.log10(max(chunks))
    top = math.ceil(math.log10(max(point["p95"] for point in points)))

    def x(value: float) -> float:
        return LEFT + (math.log10(value) - left) / (right - left) * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - math.log10(max(value, 1)) / top * (HEIGHT - TOP - BOTTOM)

    parts = [_text(WIDTH / 2, HEIGHT - 8, "chunks of the organization"), _text(14, 14, "ms", "start")]
    for power in range(top + 1):
        parts.append(_line(LEFT, y(10**power), WIDTH - RIGHT, y(10**power), "#ddd"))
        parts.append(_text(LEFT - 6, y(10**power) + 4, f"{10**power}", "end"))
    for point in points:
        at = x(point["chunks"])
        parts.append(_text(at, HEIGHT - BOTTOM + 16, f"{point['chunks']:,}"))
        told = f"{point['route']}, recall {point['recall_at_10']['mean']:.3f}"
        parts.append(_text(at, HEIGHT - BOTTOM + 30, told))
    for name, colour in LINES:
        path = " ".join(f"{x(point['chunks']):.1f},{y(point[name]):.1f}" for point in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for point in points:
            parts.append(f'<circle cx="{x(point["chunks"]):.1f}" cy="{y(point[name]):.1f}" r="3" fill="{colour}"/>')
        last = points[-1]
        parts.append(_text(x(last["chunks"]) + 8, y(last[name]) + 4, f"{name} {last[name]:.1f} ms", "start", colour))
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" font-size="11">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>\n{body}\n</svg>\n'
    )


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def _text(x: float, y: float, text: str, anchor: str = "middle", colour: str = "#333") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{text}</text>'
