"""PDF to the block model."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import chain

import pypdfium2 as pdfium  # type: ignore[import-untyped]

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.chunker.blocks import Document, DocumentBuilder, Kind
from services.chunker.pdf.damage import damaged_streams
from services.chunker.pdf.furniture import REACH, Edges, Furniture
from services.chunker.pdf.headings import Outline
from services.chunker.pdf.lines import Line, PlacedTable
from services.chunker.pdf.opening import opened
from services.chunker.pdf.page import Page, page_lines, read_page
from services.chunker.pdf.title import own_title
from services.chunker.pdf.writing import write

MEDIA_TYPE = "application/pdf"
# The share of characters that have no Unicode value above which a page is suspect, and a document no text.
_SUSPECT, _UNREADABLE = 0.3, 0.6
_MOST_WARNINGS = 20
# More text than any source may have in tokens.
_MOST_CHARACTERS = 3_000_000


class _Pages:
    """Reads the pages one after the other, and keeps count of those that are damaged or hold no text."""

    def __init__(self, document: pdfium.PdfDocument) -> None:
        self._document = document
        self.count = len(document)
        self.damaged: list[int] = []
        self.pictured: list[int] = []
        self.suspect: list[int] = []
        self._unmapped = 0.0
        self._with_text = 0
        self._length = 0

    def lines(self) -> Iterator[Line | PlacedTable]:
        """The lines and tables of all pages; a few pages around the present one are held."""
        furniture = Furniture()
        seen: deque[Edges] = deque(maxlen=REACH)
        ahead: deque[Page] = deque()
        region = 0
        pages = self._pages()
        while True:
            while len(ahead) <= REACH and (page := next(pages, None)) is not None:
                ahead.append(page)
            if not ahead:
                return
            page = ahead.popleft()
            repeated = furniture.of(page.edges, [*seen, *(other.edges for other in ahead)])
            for line in page_lines(page, repeated, region):
                yield self._counted(line)
                region = max(region, line.region) if isinstance(line, Line) else region
            region += 1
            seen.append(page.edges)

    def _counted(self, line: Line | PlacedTable) -> Line | PlacedTable:
        self._length += len(line.text) if isinstance(line, Line) else sum(map(len, chain(*line.rows)))
        if self._length > _MOST_CHARACTERS:
            raise SourceRefused(
                Code.SOURCE_TOO_LARGE, f"the document holds more than {_MOST_CHARACTERS:,} characters of text"
            )
        return line

    def _pages(self) -> Iterator[Page]:
        for index in range(self.count):
            try:
                page = read_page(self._document, index)
            except pdfium.PdfiumError:
                self.damaged.append(index + 1)
                continue
            if page.main:
                self._with_text += 1
                self._unmapped += page.unmapped
                if page.unmapped > _SUSPECT:
                    self.suspect.append(index + 1)
            elif page.pictured:
                self.pictured.append(index + 1)
            yield page

    def check(self) -> None:
        """Refuse a document without text that can be read."""
        if self.count == len(self.damaged):
            raise SourceRefused(Code.BROKEN, "none of the pages can be read")
        if not self._with_text:
            if self.pictured:
                raise SourceRefused(
                    Code.NO_TEXT, f"the document seems to be scanned: {len(self.pictured)} pages of pictures, no text"
                )
            raise SourceRefused(Code.NO_TEXT, f"no text on any of {self.count} pages")
        if self._unmapped > _UNREADABLE * self._with_text:
            raise SourceRefused(Code.NO_TEXT, "the fonts do not say which characters they draw: no readable text")

    def warnings(self) -> Iterator[str]:
        """What a reader should know of pages that are missing or doubtful."""
        for pages, what in (
            (self.damaged, "damaged and left out"),
            (self.pictured, "pictures without text"),
            (self.suspect, "text that may be garbled: a font does not say which characters it draws"),
        ):
            if pages:
                shown = ", ".join(map(str, pages[:_MOST_WARNINGS])) + (" …" if len(pages) > _MOST_WARNINGS else "")
                yield f"{'page' if len(pages) == 1 else 'pages'} {shown}: {what}"


def parse_pdf(body: bytes) -> Document:
    """Parse a PDF. Raises SourceRefused with ENCRYPTED, BROKEN, SOURCE_TOO_LARGE or NO_TEXT."""
    with opened(body) as document:
        pages = _Pages(document)
        lines = list(pages.lines())
        pages.check()
        builder = DocumentBuilder()
        labels = {item.page: document.get_page_label(item.page) for item in lines}
        write(builder, lines, Outline(document), labels)
        title = own_title(document)
    builder.warnings.extend(pages.warnings())
    damaged = damaged_streams(body)
    if damaged:
        builder.warnings.append(f"{damaged} parts of the file are damaged: some text may be missing or wrong")
    parsed = builder.finish(title, MEDIA_TYPE, None)
    if parsed.title is None:
        parsed.title = _first_heading(parsed)
    return parsed


def _first_heading(parsed: Document) -> str | None:
    """The most prominent heading of the first two pages."""
    found = [b for b in parsed.blocks if b.kind is Kind.HEADING and b.locator.page is not None and b.locator.page < 3]
    return min(found, key=lambda block: block.level).text if found else None
