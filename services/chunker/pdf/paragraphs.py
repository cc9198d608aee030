"""Paragraphs: lines put together by distance, indent, size and the way sentences go."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from services.chunker.pdf import markers
from services.chunker.pdf.lines import Line, PlacedTable
from services.chunker.pdf.measures import Measures

_ENDS_SENTENCE = re.compile(r"[.!?:;…。！？：；][\"'”’)\]»」』]*\d{0,2}$|\.{4,}\s*\S*$")
# A line of a table of contents.
_ENTRY = re.compile(r"(?:\.\s?){4,}\s*\S{1,8}$")
# Ratios: of sizes that differ, of distances above which a paragraph ends, of the width that makes a line a short one.
_OTHER_SIZE = 1.12
_APART = 1.3
_SHORT = 0.85
_VERY_SHORT = 0.6
# In sizes of the font.
_INDENT = 0.8
_MOST_LOOKED_BACK = 8
# How much of a line's end is looked at, in characters.
_TAIL = 40


@dataclass(slots=True)
class Paragraph:
    """Lines that belong together. `marker` is the bullet or number before its first line, else ""."""

    lines: list[Line]
    marker: str = ""

    @property
    def size(self) -> float:
        """The size of its first line, in points."""
        return self.lines[0].size


Group = Paragraph | PlacedTable


def _ends_sentence(text: str) -> bool:
    return bool(_ENDS_SENTENCE.search(text[-_TAIL:]))


def is_entry(text: str) -> bool:
    """Whether `text` is a line of a table of contents or an index."""
    return bool(_ENTRY.search(text[-_TAIL:]))


def paragraphs(items: Sequence[Line | PlacedTable], usual: Measures) -> list[Group]:
    """Group lines into paragraphs."""
    groups: list[Group] = []
    for item in items:
        if isinstance(item, PlacedTable):
            groups.append(item)
            continue
        marker = _marker(item, groups)
        host = None if marker else _host(groups, item, usual)
        if host is None:
            groups.append(Paragraph([item], marker))
        else:
            host.lines.append(item)
    return groups


def _marker(line: Line, groups: list[Group]) -> str:
    """The marker that begins an item of a list with this line."""
    marker = markers.bullet(line.text) or markers.number(line.text) or ""
    if len(line.text) <= len(marker) + 1:
        return ""
    last = groups[-1] if groups else None
    if not marker or markers.is_certain(marker) or not isinstance(last, Paragraph):
        return marker
    above = last.lines[-1]
    if above.page != line.page or above.region != line.region or last.marker:
        return marker
    # A line of running text may begin with a number or a dash by chance.
    return marker if _ends_sentence(above.text) or _is_short(above) or _is_apart(above, line, 1.25) else ""


def _host(groups: list[Group], line: Line, usual: Measures) -> Paragraph | None:
    """The paragraph that `line` goes on with, or None."""
    last = groups[-1] if groups else None
    if isinstance(last, Paragraph) and last.lines[-1].page == line.page and last.lines[-1].region == line.region:
        return last if _goes_on(last, line, usual) else None
    if line.aside or line.loose or (line.style.mono and not usual.mono):
        return None
    # At a column's or a page's end there may be notes, pictures' titles and tables between two halves.
    before = [group for group in groups[: -_MOST_LOOKED_BACK - 1 : -1] if isinstance(group, Paragraph)]
    ends = [group for group in before if _alike(group.lines[-1], line) and not group.lines[-1].aside]
    return next((group for distance, group in enumerate(ends) if _is_unfinished(group, line, distance)), None)


def _goes_on(paragraph: Paragraph, line: Line, usual: Measures) -> bool:
    """Whether a paragraph goes on with the next line of its region."""
    above = paragraph.lines[-1]
    if above.style.mono and line.style.mono and not usual.mono:
        return line.y0 - above.y0 < 3 * max(usual.leading, 1.2) * line.size
    if line.y0 < above.y0 or above.loose or line.loose or is_entry(above.text):
        return False
    if usual.is_large(line) and above.size == line.size:
        return not _is_apart(above, line, max(usual.leading, 1.3))
    return _alike(above, line) and not _is_apart(above, line, usual.leading) and _reads_on(paragraph, line)


def _reads_on(paragraph: Paragraph, line: Line) -> bool:
    """Whether neither indents nor short lines set `line` off from the paragraph above it."""
    above = paragraph.lines[-1]
    short = _is_short(above)
    if paragraph.marker:
        return line.x0 > paragraph.lines[0].x0 - 0.5 * line.size or not short
    ended = _ends_sentence(above.text)
    very_short = above.x1 - above.left < _VERY_SHORT * (above.right - above.left)
    if short and (ended or (very_short and not line.text[:1].islower())):
        return False
    step = (line.x0 - above.x0) / line.size
    if step > _INDENT and (ended or short):
        return len(paragraph.lines) == 1 and not ended
    return step >= -_INDENT or len(paragraph.lines) == 1 or not (ended or short or _hangs(paragraph, line))


def _hangs(paragraph: Paragraph, line: Line) -> bool:
    """Whether the paragraph's first line stands out to the left, where `line` begins too."""
    first, second = paragraph.lines[:2]
    return second.x0 - first.x0 > _INDENT * first.size and abs(first.x0 - line.x0) < 0.3 * first.size


def _alike(above: Line, line: Line) -> bool:
    """Whether two lines are set alike."""
    larger, smaller = max(above.size, line.size), min(above.size, line.size)
    return (
        larger < _OTHER_SIZE * smaller and above.style.bold == line.style.bold and above.style.mono == line.style.mono
    )


def _is_apart(above: Line, line: Line, usual: float) -> bool:
    return line.y0 - above.y0 > _APART * usual * max(above.size, line.size)


def _is_short(line: Line) -> bool:
    width = line.right - line.left
    return line.x1 < line.left + _SHORT * width and line.right - line.x1 > 3 * line.size


def _is_unfinished(paragraph: Paragraph, line: Line, distance: int) -> bool:
    """Whether a sentence goes on from the end of one column or page to the top of the next.

    `distance` counts the paragraphs between that are set like it; only a clear continuation goes over them.
    """
    above = paragraph.lines[-1]
    if line.page - above.page > 1 or _ends_sentence(above.text) or _is_short(above) or len(above.text) < 15:
        return False
    return line.text[:1].islower() or (distance == 0 and not line.style.bold and not _is_short(line))
