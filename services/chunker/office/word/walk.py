"""The walk through a story of a Word document (its body, a header, a note), which makes paragraphs and tables of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from services.chunker.blocks import Kind
from services.chunker.office.content import Item, Paragraph, Row, Table, flat
from services.chunker.office.graphics import Graphics
from services.chunker.office.markup import MC, Element, W, chosen_branch, switched_on, whole
from services.chunker.office.word.flow import Flow
from services.chunker.office.word.notes import Notes
from services.chunker.office.word.numbering import Numbering
from services.chunker.office.word.styles import Style, Styles

# The most columns that a table in Word has.
_MOST_COLUMNS: Final = 63
_LONGEST_HEADING: Final = 300
_SKIPPED_NAMES = "del moveFrom sectPr tblPr tblGrid trPr tcPr sdtPr sdtEndPr"
_SKIPPED = frozenset(W + name for name in _SKIPPED_NAMES.split())


class Walk:
    """Walks stories that share styles, numbering and notes. `title` is the first paragraph in the style Title."""

    def __init__(self, styles: Styles, numbering: Numbering, notes: Notes, graphics: Graphics) -> None:
        self.title: str | None = None
        self.imported = 0
        self._styles = styles
        self._numbering = numbering
        self._notes = notes
        self._graphics = graphics
        self._carried = ""

    def story(self, root: Element) -> list[Item]:
        """Return what a story holds; notes follow the paragraph or table that refers to them."""
        items: list[Item] = []
        for item in self._whole(root):
            items.append(item)
            for marker, body in self._notes.due():
                items.append(Paragraph(f"{marker} {flat(self._whole(body))}"))
        return items

    def _whole(self, container: Element) -> Iterator[Item]:
        """What a container holds, which no paragraph outside of it runs into."""
        outer, self._carried = self._carried, ""
        yield from self._items(container)
        if self._carried:
            yield Paragraph(self._carried)
        self._carried = outer

    def _items(self, container: Element) -> Iterator[Item]:
        for child in container:
            if child.tag == W + "p":
                yield from self._paragraph(child)
            elif child.tag == W + "tbl":
                yield Table([row for row in self._rows(child) if row.cells])
            elif child.tag == MC + "AlternateContent":
                branch = chosen_branch(child)
                if branch is not None:
                    yield from self._items(branch)
            elif child.tag == W + "altChunk":
                self.imported += 1
            elif child.tag not in _SKIPPED:
                yield from self._items(child)

    def _paragraph(self, node: Element) -> Iterator[Item]:
        properties = node.find(W + "pPr")
        style = self._styles.of_paragraph(properties)
        flow = Flow(self._styles, self._notes, style)
        flow.read(node)
        text = self._carried + flow.text
        # When the end of a paragraph was deleted, it runs on into the next one.
        self._carried = text if _end_is_deleted(properties) else ""
        if not self._carried:
            yield self._item(text, style, self._is_mono(flow, properties, style))
        for box in flow.boxes:
            yield from self._whole(box)
        yield from self._graphics.items(flow.charts, flow.diagrams)

    def _is_mono(self, flow: Flow, properties: Element | None, style: Style) -> bool:
        """Whether a paragraph is in a font of fixed width; a blank one is judged by the mark at its end."""
        mark = properties.find(W + "rPr") if properties is not None else None
        if flow.text.strip() or mark is None:
            return flow.mono
        return bool(self._styles.of_run(mark, style).mono)

    def _item(self, text: str, style: Style, mono: bool) -> Paragraph:
        depth = style.number_level or 0
        marker = self._numbering.marker(style.number, depth) if style.number else ""
        if style.level and text.strip() and len(text) <= _LONGEST_HEADING:
            if style.title and self.title is None:
                self.title = text
            return Paragraph(text, Kind.HEADING, level=style.level)
        if marker and style.kind is not Kind.CODE:
            return Paragraph(text, Kind.LIST, marker=marker, depth=depth)
        return Paragraph(text, style.kind or Kind.PARAGRAPH, mono=mono)

    def _rows(self, parent: Element) -> Iterator[Row]:
        for child in parent:
            if child.tag == W + "tr":
                properties = child.find(W + "trPr")
                if properties is None or properties.find(W + "del") is None:
                    heading = properties.find(W + "tblHeader") if properties is not None else None
                    yield Row(list(self._cells(child)), switched_on(heading, W + "val"))
            elif child.tag not in _SKIPPED:
                yield from self._rows(child)

    def _cells(self, parent: Element) -> Iterator[list[Item]]:
        """The cells of a row, with an empty one for each column that a merged cell covers besides its first."""
        yield from _empty(parent.find(f"{W}trPr/{W}gridBefore"), 0)
        for child in parent:
            if child.tag == W + "tc":
                properties = child.find(W + "tcPr")
                if properties is not None and properties.find(W + "cellDel") is not None:
                    continue
                content = list(self._whole(child))
                yield [] if _continues(properties) else content
                yield from _empty(properties.find(W + "gridSpan") if properties is not None else None, 1)
            elif child.tag not in _SKIPPED:
                yield from self._cells(child)


def _empty(span: Element | None, first: int) -> Iterator[list[Item]]:
    columns = whole(span.get(W + "val"), 0, 0, _MOST_COLUMNS) if span is not None else 0
    yield from ([] for _ in range(first, columns))


def _continues(properties: Element | None) -> bool:
    """Whether a cell belongs to the one above it."""
    merged = properties.find(W + "vMerge") if properties is not None else None
    return merged is not None and merged.get(W + "val", "continue") == "continue"


def _end_is_deleted(properties: Element | None) -> bool:
    if properties is None:
        return False
    return any(properties.find(f"{W}rPr/{W}{name}") is not None for name in ("del", "moveFrom"))
