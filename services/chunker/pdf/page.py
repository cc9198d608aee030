"""One page: what is read of it while it is open, and its lines once its neighbours are known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pypdfium2 as pdfium  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium_c  # type: ignore[import-untyped]

from services.chunker.pdf.columns import Item
from services.chunker.pdf.fields import as_segments, filled
from services.chunker.pdf.frames import frame
from services.chunker.pdf.furniture import Edges, Repeated, edges
from services.chunker.pdf.glyphs import Faces, runs, unmapped_share
from services.chunker.pdf.grids import ruled_tables
from services.chunker.pdf.lines import Line, PlacedTable, lines
from services.chunker.pdf.rules import Rules, rules
from services.chunker.pdf.segments import segments_by_angle
from services.chunker.pdf.underscores import join_underscored
from services.chunker.pdf.words import Segment

_OBJECTS_LOOKED_AT = 50


@dataclass(slots=True)
class Page:
    """What a page holds: `main` are the segments of its main direction of text, `turned` those of others."""

    index: int
    main: list[Segment] = field(default_factory=list)
    turned: list[list[Segment]] = field(default_factory=list)
    rules: Rules = field(default_factory=lambda: Rules([], [], []))
    edges: Edges = field(init=False)
    unmapped: float = 0.0
    pictured: bool = False

    def __post_init__(self) -> None:
        self.edges = Edges(self.index)


def read_page(document: pdfium.PdfDocument, index: int) -> Page:
    """Read the page. Raises PdfiumError when it is damaged."""
    opened = document[index]
    try:
        text = opened.get_textpage()
        try:
            return _read(opened, text, index)
        finally:
            text.close()
    finally:
        opened.close()


def _read(opened: pdfium.PdfPage, text: pdfium.PdfTextPage, index: int) -> Page:
    found = list(runs(text))
    parts = segments_by_angle(found, Faces(text), opened.get_bbox()) or [(frame(0), [])]
    main_frame, main = parts[0]
    form = opened.formenv.raw if opened.formenv is not None else None
    values = [made for value in filled(opened, form) for made in as_segments(value, main_frame, main)]
    turned = [segments for _, segments in parts[1:]]
    page = Page(index, main + values, turned)
    if not page.main:
        page.pictured = _has_picture(opened)
        return page
    page.rules = rules(opened, main_frame)
    join_underscored(main, page.rules.dashes)
    page.edges = edges(index, main, turned)
    page.unmapped = unmapped_share(text)
    return page


def _has_picture(opened: pdfium.PdfPage) -> bool:
    kinds = (pdfium_c.FPDF_PAGEOBJ_IMAGE, pdfium_c.FPDF_PAGEOBJ_FORM)
    count = min(pdfium_c.FPDFPage_CountObjects(opened.raw), _OBJECTS_LOOKED_AT)
    return any(
        pdfium_c.FPDFPageObj_GetType(pdfium_c.FPDFPage_GetObject(opened.raw, number)) in kinds
        for number in range(count)
    )


def page_lines(page: Page, repeated: Repeated, first_region: int) -> Iterator[Line | PlacedTable]:
    """The lines and tables of the page in reading order, without what its neighbours repeat."""
    left_out = repeated.dropped | repeated.first
    kept = [item for item in page.main if id(item) not in left_out]
    tables, rest = ruled_tables(kept, page.rules)
    items: list[Item] = [*tables, *rest]
    aside = [[item for item in page.main if id(item) in repeated.first], *page.turned]
    region = first_region
    for line in lines(items, page.rules.across, page.index, region):
        yield line
        region = max(region, line.region + 1) if isinstance(line, Line) else region
    for part in aside:
        others: list[Item] = [item for item in part if id(item) not in repeated.dropped]
        for line in lines(others, (), page.index, region):
            if isinstance(line, Line):
                line.aside = True
            yield line
        region += len(others)
