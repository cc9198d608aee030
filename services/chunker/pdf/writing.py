"""From lines to blocks: headings, paragraphs, items of lists, code and tables, each with its page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from services.chunker.blocks import DocumentBuilder, Kind, Locator, pipe_row, table_pieces
from services.chunker.html.code import fenced
from services.chunker.pdf import markers
from services.chunker.pdf.headings import Outline, headings
from services.chunker.pdf.hyphens import compounds, joined_lines
from services.chunker.pdf.lines import Line, PlacedTable
from services.chunker.pdf.measures import measures
from services.chunker.pdf.paragraphs import Group, paragraphs

# A distance of so many usual ones is a blank line.
_BLANK_LINE = 1.6
_MOST_INDENT = 100
_SIGNS = re.compile(r"[{}();=<>#$|\\]|^ {2,}")


def write(
    builder: DocumentBuilder, items: Sequence[Line | PlacedTable], outline: Outline, labels: Mapping[int, str]
) -> None:
    """Add the blocks of a document; `labels` are the printed numbers of pages by index."""
    lines = [item for item in items if isinstance(item, Line)]
    usual = measures(lines)
    groups = paragraphs(items, usual)
    known = compounds(line.text for line in lines)
    texts = [_text(group, known) for group in groups]
    levels = headings(groups, texts, outline, usual)
    for index, group in enumerate(groups):
        place = _locator(group, labels)
        if isinstance(group, PlacedTable):
            rows = [pipe_row(row) for row in group.rows]
            for piece in table_pieces(rows, int(_has_header(group.rows))):
                builder.add(Kind.TABLE, piece, place)
        elif index in levels:
            builder.heading(levels[index], texts[index], place)
        elif not usual.mono and _is_code(group.lines):
            builder.add(Kind.CODE, fenced(_code(group.lines, usual.leading), ""), place)
        else:
            builder.add(Kind.LIST if group.marker else Kind.PARAGRAPH, texts[index], place)


def _text(group: Group, known: frozenset[str]) -> str:
    if isinstance(group, PlacedTable):
        return ""
    text = joined_lines([line.text for line in group.lines], known)
    marker = group.marker.strip()
    if marker and markers.is_tick(marker):
        return f"- {text}"
    if marker and marker[-1] not in ".)":
        return "- " + text.removeprefix(marker).lstrip()
    return text


def _locator(group: Group, labels: Mapping[int, str]) -> Locator:
    page = group.page if isinstance(group, PlacedTable) else group.lines[0].page
    label = labels.get(page, "").strip()
    return Locator(page=page + 1, label=label if label and label != str(page + 1) else None)


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: it has fewer numbers than the others."""
    shares = [sum(any(map(str.isdigit, cell)) for cell in row) / len(row) for row in rows]
    return len(rows) > 1 and shares[0] <= 0.5 * sum(shares[1:]) / (len(rows) - 1)


def _is_code(lines: Sequence[Line]) -> bool:
    """Whether lines of fixed width are code and no address: several, or with signs of a program."""
    if len(lines) < 2 or not all(line.style.mono for line in lines):
        return False
    return len(lines) > 2 or any(_SIGNS.search(line.text) for line in lines)


def _code(lines: Sequence[Line], leading: float) -> str:
    """The lines of code with their indentation, which only their places show, and the blank lines between them."""
    left = min(line.x0 for line in lines)
    longest = max(lines, key=lambda line: len(line.text))
    width = (longest.x1 - longest.x0) / max(len(longest.text), 1) or longest.size
    written = [_indent(lines[0].x0 - left, width) + lines[0].text]
    for above, line in pairwise(lines):
        if 0 < above.size * leading * _BLANK_LINE < line.y0 - above.y0:
            written.append("")
        written.append(_indent(line.x0 - left, width) + line.text)
    return "\n".join(written)


def _indent(distance: float, width: float) -> str:
    return " " * min(round(distance / width), _MOST_INDENT)
