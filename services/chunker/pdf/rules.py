"""The straight lines that a page draws: rules of tables and forms."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any, NamedTuple

import pypdfium2 as pdfium  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium_c  # type: ignore[import-untyped]

from services.chunker.pdf.frames import Frame

_MOST_OBJECTS = 20_000
_MOST_SEGMENTS = 200
_DEEPEST_FORM = 5
# In points: rules are at least so long, rectangles up to so thick are rules, rules so near to one another are one.
_SHORTEST = 5.0
_SHORTEST_DASH = 1.5
_THICKEST = 3.0
_SNAP = 2.0

Matrix = tuple[float, float, float, float, float, float]
_IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


class Rule(NamedTuple):
    """A line at `at` across, from `start` to `end` along its direction."""

    at: float
    start: float
    end: float


class Rules(NamedTuple):
    """The rules of a page in the frame of its text; those of `across` run along the text, `dashes` too but short."""

    across: list[Rule]
    down: list[Rule]
    dashes: list[Rule]


def rules(page: pdfium.PdfPage, frame: Frame) -> Rules:
    """Find the rules; a page that draws more than a table ever does yields those of its first objects."""
    across: list[Rule] = []
    down: list[Rule] = []
    dashes: list[Rule] = []
    for ax, ay, bx, by in _lines(page):
        (x0, y0), (x1, y1) = frame.point(ax, ay), frame.point(bx, by)
        if abs(y1 - y0) <= 1 and abs(x1 - x0) >= _SHORTEST:
            across.append(Rule((y0 + y1) / 2, min(x0, x1), max(x0, x1)))
        elif abs(y1 - y0) <= 1 and abs(x1 - x0) >= _SHORTEST_DASH:
            dashes.append(Rule((y0 + y1) / 2, min(x0, x1), max(x0, x1)))
        elif abs(x1 - x0) <= 1 and abs(y1 - y0) >= _SHORTEST:
            down.append(Rule((x0 + x1) / 2, min(y0, y1), max(y0, y1)))
    return Rules(_merged(across), _merged(down), dashes)


def _merged(found: list[Rule]) -> list[Rule]:
    """Pieces of one rule joined: same place, and they touch."""
    levels: list[list[Rule]] = []
    for rule in sorted(found):
        if levels and rule.at - levels[-1][0].at <= _SNAP:
            levels[-1].append(rule)
        else:
            levels.append([rule])
    whole: list[Rule] = []
    for level in levels:
        at = sum(rule.at for rule in level) / len(level)
        open_rule: Rule | None = None
        for rule in sorted(level, key=lambda one: one.start):
            if open_rule is not None and rule.start <= open_rule.end + _THICKEST:
                open_rule = open_rule._replace(end=max(open_rule.end, rule.end))
                continue
            if open_rule is not None:
                whole.append(open_rule)
            open_rule = Rule(at, rule.start, rule.end)
        if open_rule is not None:
            whole.append(open_rule)
    return whole


def _lines(page: pdfium.PdfPage) -> Iterator[tuple[float, float, float, float]]:
    """The straight strokes and thin rectangles of the page, from point to point."""
    left = _MOST_OBJECTS
    count = pdfium_c.FPDFPage_CountObjects(page.raw)
    stack: list[tuple[Any, Matrix, int]] = [
        (pdfium_c.FPDFPage_GetObject(page.raw, index), _IDENTITY, 0) for index in reversed(range(min(count, left)))
    ]
    while stack and left > 0:
        drawn, matrix, depth = stack.pop()
        left -= 1
        kind = pdfium_c.FPDFPageObj_GetType(drawn)
        if kind == pdfium_c.FPDF_PAGEOBJ_PATH:
            yield from _strokes(drawn, matrix)
        elif kind == pdfium_c.FPDF_PAGEOBJ_FORM and depth < _DEEPEST_FORM:
            inner = _product(_matrix(drawn), matrix)
            parts = min(pdfium_c.FPDFFormObj_CountObjects(drawn), left)
            stack.extend(
                (pdfium_c.FPDFFormObj_GetObject(drawn, index), inner, depth + 1) for index in reversed(range(parts))
            )


def _matrix(drawn: Any) -> Matrix:
    found = pdfium_c.FS_MATRIX()
    if not pdfium_c.FPDFPageObj_GetMatrix(drawn, found):
        return _IDENTITY
    return found.a, found.b, found.c, found.d, found.e, found.f


def _product(first: Matrix, then: Matrix) -> Matrix:
    a, b, c, d, e, f = first
    g, h, i, j, k, m = then
    return a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m


def _strokes(path: Any, outer: Matrix) -> Iterator[tuple[float, float, float, float]]:
    segments = pdfium_c.FPDFPath_CountSegments(path)
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    if not 2 <= segments <= _MOST_SEGMENTS or not pdfium_c.FPDFPath_GetDrawMode(path, fill, stroke):
        return
    a, b, c, d, e, f = _product(_matrix(path), outer)
    lines = [
        (a * x0 + c * y0 + e, b * x0 + d * y0 + f, a * x1 + c * y1 + e, b * x1 + d * y1 + f)
        for x0, y0, x1, y1 in _path_lines(path, segments)
    ]
    if stroke.value:
        yield from lines
    elif fill.value and lines:
        xs = [x for line in lines for x in (line[0], line[2])]
        ys = [y for line in lines for y in (line[1], line[3])]
        if min(max(xs) - min(xs), max(ys) - min(ys)) <= _THICKEST:
            yield from lines


def _path_lines(path: Any, segments: int) -> Iterator[tuple[float, float, float, float]]:
    x, y = ctypes.c_float(), ctypes.c_float()
    start = last = (0.0, 0.0)
    for index in range(segments):
        part = pdfium_c.FPDFPath_GetPathSegment(path, index)
        kind = pdfium_c.FPDFPathSegment_GetType(part)
        pdfium_c.FPDFPathSegment_GetPoint(part, x, y)
        point = (x.value, y.value)
        if kind == pdfium_c.FPDF_SEGMENT_MOVETO:
            start = point
        elif kind == pdfium_c.FPDF_SEGMENT_LINETO:
            yield (*last, *point)
        last = point
        if pdfium_c.FPDFPathSegment_GetClose(part):
            yield (*last, *start)
            last = start
