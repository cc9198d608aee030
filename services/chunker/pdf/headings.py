"""Headings: what the outline names, and lines that are clearly larger or bolder than the text."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from statistics import median

import pypdfium2 as pdfium  # type: ignore[import-untyped]

from services.chunker.pdf.lines import Line
from services.chunker.pdf.measures import Measures
from services.chunker.pdf.paragraphs import Group, Paragraph, is_entry

_LONGEST = 200
_LONGEST_BOLD = 100
_MOST_LINES = 3
_MOST_ENTRIES = 10_000
_NUMBERING = re.compile(r"(?:\d+(?:\.\d+)*|[A-Z](?:\.\d+)+|[IVX]+)\.?\s+(?=\S)")
_ENDS_TEXT = re.compile(r"[.,;:]$")
_LETTERS = re.compile(r"[^\W\d_]")


class Outline:
    """The bookmarks of a document by their text; `levels` 1 to 6."""

    def __init__(self, document: pdfium.PdfDocument) -> None:
        self._entries: defaultdict[str, list[tuple[int | None, int]]] = defaultdict(list)
        for count, entry in enumerate(document.get_toc(max_depth=6)):
            if count >= _MOST_ENTRIES:
                break
            target = entry.get_dest()
            page = target.get_index() if target is not None else None
            self._entries[_key(entry.get_title())].append((page, min(entry.level + 1, 6)))

    def level(self, text: str, page: int) -> int | None:
        """The level of the entry of that text that leads to the page, or None."""
        for target, level in self._entries.get(_key(text), ()):
            if target is None or abs(target - page) <= 1:
                return level
        return None


def _key(text: str) -> str:
    return "".join(letter for letter in _NUMBERING.sub("", text, count=1).lower() if letter.isalnum())


def headings(groups: Sequence[Group], texts: Sequence[str], outline: Outline, usual: Measures) -> dict[int, int]:
    """The levels of the groups that are headings, by index; `texts` are those of the groups."""
    named: dict[int, int] = {}
    by_size: set[int] = set()
    by_weight: set[int] = set()
    for index, group in enumerate(groups):
        text = texts[index]
        if not isinstance(group, Paragraph) or not _may_be(group, text):
            continue
        level = outline.level(text, group.lines[0].page)
        if level is not None:
            named[index] = level
        elif usual.is_large(group.lines[0]) and len(text) <= _LONGEST:
            by_size.add(index)
        elif group.size >= 0.95 * usual.body and _stands_out(groups, index, text):
            by_weight.add(index)
    by_size = set() if _is_usual(groups, by_size) else _with_sections(groups, texts, by_size)
    if _is_usual(groups, by_weight):
        by_weight = set()
    return named | _levels(groups, texts, named, by_size, by_weight)


def _may_be(group: Paragraph, text: str) -> bool:
    numbered = bool(_NUMBERING.match(text))
    return (
        len(group.lines) <= _MOST_LINES
        and not is_entry(text)
        and len(_LETTERS.findall(text)) > 1
        and not any(line.style.mono or line.aside or line.loose for line in group.lines)
        and (not group.marker or numbered)
    )


def _stands_out(groups: Sequence[Group], index: int, text: str) -> bool:
    """Whether a bold paragraph is a title above text that is not bold."""
    group, after = groups[index], groups[index + 1] if index + 1 < len(groups) else None
    if not isinstance(group, Paragraph) or not all(line.style.bold for line in group.lines):
        return False
    if len(text) > _LONGEST_BOLD or _ENDS_TEXT.search(text) or text[:1].islower() or len(group.lines) > 2:
        return False
    return isinstance(after, Paragraph) and not after.lines[0].style.bold and len(after.lines) + len(after.marker) > 1


def _with_sections(groups: Sequence[Group], texts: Sequence[str], found: set[int]) -> set[int]:
    """`found` without lines that follow one another in one size, as the names of authors do; the first of all stays."""
    first = min(found, default=0)
    return {
        index
        for index in found
        if index == first
        or _NUMBERING.match(texts[index])
        or not any(other in found and _size(groups[other]) == _size(groups[index]) for other in (index - 1, index + 1))
    }


def _is_usual(groups: Sequence[Group], found: set[int]) -> bool:
    """Whether so much is set like this that it can't be headings."""
    total = sum(len(line.text) for group in groups if isinstance(group, Paragraph) for line in group.lines)
    share = sum(len(line.text) for index in found for line in _lines(groups[index]))
    return total > 2000 and share > 0.3 * total


def _lines(group: Group) -> list[Line]:
    return group.lines if isinstance(group, Paragraph) else []


def _levels(
    groups: Sequence[Group], texts: Sequence[str], named: dict[int, int], by_size: set[int], by_weight: set[int]
) -> dict[int, int]:
    """Levels of headings that the outline does not name: those of named ones of the same size, else by size."""
    known: defaultdict[float, list[int]] = defaultdict(list)
    for index, level in named.items():
        known[_size(groups[index])].append(level)
    sizes = sorted({_size(groups[index]) for index in by_size}, reverse=True)
    level_of = {
        size: round(median(known[size])) if size in known else min(rank, 6) for rank, size in enumerate(sizes, 1)
    }
    base = min(max([*level_of.values(), *named.values()], default=0) + 1, 6)
    found = {index: level_of[_size(groups[index])] for index in by_size}
    for index in by_weight:
        numbering = _NUMBERING.match(texts[index])
        found[index] = min(base + numbering[0].count(".", 0, -2), 6) if numbering else base
    return found


def _size(group: Group) -> float:
    return group.size if isinstance(group, Paragraph) else 0.0
