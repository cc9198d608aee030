"""The walk through an OpenDocument text, which makes paragraphs and tables of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from services.chunker.blocks import Kind
from services.chunker.office.content import Item, Paragraph, Row, Table, flat
from services.chunker.office.markup import Element, whole
from services.chunker.office.opendocument.flow import Flow
from services.chunker.office.opendocument.styles import OFFICE, TABLE, TEXT, Styles

# Cells are stored once with a number of repetitions; what is repeated more often than this is filling.
_MOST_REPEATED: Final = 64
_SKIPPED = frozenset((TEXT + "tracked-changes", OFFICE + "forms", OFFICE + "annotation", TEXT + "sequence-decls"))
_ITEMS = frozenset((TEXT + "list-item", TEXT + "list-header"))


@dataclass(slots=True)
class _Open:
    """Where the walk stands in lists: the style and depth of the innermost, and the marker that is still to be set."""

    style: str = ""
    depth: int = -1
    marker: str = ""
    counts: dict[str, int] = field(default_factory=dict)


class Walk:
    """Walks the body of a text, a header or a note. `title` is the first paragraph in the style Title."""

    def __init__(self, styles: Styles) -> None:
        self.title: str | None = None
        self._styles = styles
        self._list = _Open()
        self._due: list[tuple[str, Element]] = []

    def story(self, root: Element) -> list[Item]:
        """Return what `root` holds; notes follow the paragraph or table that refers to them."""
        items: list[Item] = []
        for item in self._items(root):
            items.append(item)
            while self._due:
                marker, body = self._due.pop(0)
                items.append(Paragraph(f"{marker} {flat(self._apart(body))}"))
        return items

    def _apart(self, container: Element) -> list[Item]:
        """What a container holds that is in no list outside of it."""
        outer, self._list = self._list, _Open()
        items = list(self._items(container))
        self._list = outer
        return items

    def _items(self, container: Element) -> Iterator[Item]:
        for child in container:
            tag = child.tag
            if tag in (TEXT + "p", TEXT + "h"):
                yield from self._paragraph(child)
            elif tag == TEXT + "list":
                yield from self._read_list(child)
            elif tag == TABLE + "table":
                yield Table(list(self._rows(child, heading=False)))
            elif tag not in _SKIPPED:
                yield from self._items(child)

    def _paragraph(self, node: Element) -> Iterator[Item]:
        style = node.get(TEXT + "style-name", "")
        if self._styles.is_hidden(style):
            return
        flow = Flow(self._styles, node)
        self._due.extend(flow.notes)
        yield self._item(node, style, flow.text)
        for box in flow.boxes:
            yield from self._apart(box)

    def _item(self, node: Element, style: str, text: str) -> Paragraph:
        if node.tag == TEXT + "h":
            return Paragraph(text, Kind.HEADING, level=whole(node.get(TEXT + "outline-level"), 1, 1))
        if self._styles.is_title(style) and text.strip():
            self.title = self.title or text
            return Paragraph(text, Kind.HEADING, level=1)
        if self._list.marker and text.strip():
            # What follows in the same item has no marker of its own.
            marker, self._list.marker = self._list.marker, ""
            return Paragraph(text, Kind.LIST, marker=marker, depth=self._list.depth)
        return Paragraph(text, self._styles.kind(style))

    def _read_list(self, node: Element) -> Iterator[Item]:
        outer = self._list
        style = node.get(TEXT + "style-name", outer.style)
        depth = outer.depth + 1
        marking = self._styles.marking(style, depth)
        counts = outer.counts
        key = f"{style} {depth}"
        goes_on = node.get(TEXT + "continue-numbering") == "true" or node.get(TEXT + "continue-list") is not None
        number = counts.get(key, marking.start - 1) if goes_on else marking.start - 1
        for item in node:
            if item.tag in _ITEMS:
                number = whole(item.get(TEXT + "start-value"), number + 1)
                marker = marking.marker(number) if item.tag == TEXT + "list-item" else ""
                self._list = _Open(style, depth, marker, counts)
                yield from self._items(item)
        counts[key] = number
        self._list = outer

    def _rows(self, parent: Element, heading: bool) -> Iterator[Row]:
        for child in parent:
            if child.tag == TABLE + "table-row":
                yield Row(list(self._cells(child)), heading)
            elif child.tag == TABLE + "table-header-rows":
                yield from self._rows(child, heading=True)
            elif child.tag in (TABLE + "table-rows", TABLE + "table-row-group"):
                yield from self._rows(child, heading)

    def _cells(self, row: Element) -> Iterator[list[Item]]:
        """The cells of a row; those that a merged one covers are stored as such, and empty."""
        for cell in row:
            repeated = whole(cell.get(TABLE + "number-columns-repeated"), 1, 1, _MOST_REPEATED)
            if cell.tag == TABLE + "table-cell":
                content = self._apart(cell)
                yield from (content for _ in range(repeated))
            elif cell.tag == TABLE + "covered-table-cell":
                yield from ([] for _ in range(repeated))
