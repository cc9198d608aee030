"""One slide: its title, and all text of its shapes, tables, charts and diagrams in reading order."""

from __future__ import annotations

from collections.abc import Iterator

from services.chunker.office.content import Item, Paragraph, Row, Table
from services.chunker.office.graphics import Graphics
from services.chunker.office.markup import DGM, A, C, Element, P, R, truth
from services.chunker.office.slides.order import in_order
from services.chunker.office.slides.paragraphs import paragraph_text, paragraphs
from services.chunker.office.slides.placeholders import FOOTER, FURNITURE, Template, is_title, role

_TEXT_SHAPES = frozenset((P + "sp", P + "cxnSp"))


class Slide:
    """Reads a slide. `title` is "" when it has none; `opens` says that it is a title slide."""

    def __init__(self, root: Element, template: Template, graphics: Graphics) -> None:
        self.title = ""
        self.opens = False
        self.footers: list[str] = []
        self._template = template
        self._graphics = graphics
        tree = root.find(f"{P}cSld/{P}spTree")
        self.items: list[Item] = list(self._items(tree)) if tree is not None else []

    def _items(self, tree: Element) -> Iterator[Item]:
        for shape in in_order(tree, self._template):
            if shape.tag == P + "grpSp":
                yield from self._items(shape)
            elif shape.tag == P + "graphicFrame":
                yield from self._frame(shape)
            elif shape.tag in _TEXT_SHAPES:
                yield from self._text(shape)

    def _text(self, shape: Element) -> Iterator[Item]:
        body = shape.find(P + "txBody")
        kind = role(shape)
        if body is None or kind in FURNITURE:
            return
        if is_title(shape) and not self.title:
            self.title = " ".join(" ".join(map(paragraph_text, body.iterfind(A + "p"))).split())
            self.opens = kind == "ctrTitle"
        elif kind == FOOTER:
            self.footers.extend(filter(None, map(paragraph_text, body.iterfind(A + "p"))))
        else:
            yield from paragraphs(body, self._template.list_styles(shape))

    def _frame(self, frame: Element) -> Iterator[Item]:
        for table in frame.iter(A + "tbl"):
            yield _table(table)
        charts = [chart.get(R + "id", "") for chart in frame.iter(C + "chart")]
        diagrams = [diagram.get(R + "dm", "") for diagram in frame.iter(DGM + "relIds")]
        yield from self._graphics.items(charts, diagrams)


def _table(table: Element) -> Table:
    properties = table.find(A + "tblPr")
    headed = properties is not None and truth(properties.get("firstRow"))
    rows = [Row([_cell(cell) for cell in row.iterfind(A + "tc")]) for row in table.iterfind(A + "tr")]
    if rows:
        rows[0].heading = headed
    return Table(rows)


def _cell(cell: Element) -> list[Item]:
    """What is in a cell; nothing in one that a merged cell covers."""
    body = cell.find(A + "txBody")
    if body is None or truth(cell.get("hMerge")) or truth(cell.get("vMerge")):
        return []
    return paragraphs(body)


def notes(root: Element) -> list[Paragraph]:
    """Return the speaker's notes, the text of the body of a notes page."""
    bodies = (shape.find(P + "txBody") for shape in root.iter(P + "sp") if role(shape) == "body")
    nodes = (node for body in bodies if body is not None for node in body.iterfind(A + "p"))
    return [Paragraph(text) for text in map(paragraph_text, nodes) if text.strip()]
