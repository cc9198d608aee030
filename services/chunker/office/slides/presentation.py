"""Presentations (PPTX, with or without macros, and shows): each slide a section, its locator the number of the slide.

Slides that are hidden during the show are kept: they hold the details for whoever asks. The speaker's notes follow
their slide as quotes. Comments, dates, slide numbers and what stands on layouts and masters are left out; a footer is
given once. A part that is missing or damaged leaves a warning, and the rest is read.
"""

from __future__ import annotations

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.chunker.blocks import Document, DocumentBuilder, Kind, Locator
from services.chunker.office.content import flat
from services.chunker.office.graphics import Graphics
from services.chunker.office.kinds import PPTX
from services.chunker.office.markup import P, R
from services.chunker.office.package import Package
from services.chunker.office.slides.placeholders import Template
from services.chunker.office.slides.slide import Slide, notes
from services.chunker.office.writing import tidy, write

_SLIDE_LEVEL = 2


def parse_pptx(body: bytes) -> Document:
    """Parse a presentation. Raises SourceRefused: BROKEN, ENCRYPTED, SOURCE_TOO_LARGE, TOO_DEEP, NO_TEXT."""
    package = Package(body)
    main = package.main("ppt/presentation.xml")
    relations = package.relations(main)
    listed = package.part(main).iterfind(f"{P}sldIdLst/{P}sldId")
    deck = _Deck(package)
    for number, entry in enumerate(listed, 1):
        relation = relations.get(entry.get(R + "id", ""))
        if relation is None:
            package.warnings.append(f"slide {number} is missing")
        else:
            deck.add(number, relation.target)
    return deck.finish()


class _Deck:
    """Lays slides out, one after the other."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._builder = DocumentBuilder()
        self._templates: dict[str | None, Template] = {}
        self._footers: set[str] = set()
        self._title: str | None = None
        self._read = self._lost = 0

    def add(self, number: int, name: str) -> None:
        """Add the slide of a number, which is in the part of a name."""
        root = self._package.optional(name)
        if root is None:
            self._lost += 1
            return
        self._read += 1
        slide = Slide(root, self._template(name), Graphics(self._package, name))
        page = self._package.optional(self._package.related(name, "notesSlide"))
        spoken = notes(page) if page is not None else []
        self._write(number, slide, "\n\n".join(filter(None, (tidy(note.text) for note in spoken))))

    def _template(self, slide: str) -> Template:
        layout = self._package.related(slide, "slideLayout")
        if layout not in self._templates:
            self._templates[layout] = Template(self._package, layout)
        return self._templates[layout]

    def _write(self, number: int, slide: Slide, spoken: str) -> None:
        if not (slide.title or flat(slide.items) or spoken):
            return
        here = Locator(slide=number)
        level = 1 if slide.opens and self._title is None else _SLIDE_LEVEL
        self._title = self._title or slide.title or None
        # A slide without a title still ends the section of the one before it.
        self._builder.heading(level, slide.title or f"Slide {number}", here)
        write(self._builder, slide.items, here)
        if spoken:
            self._builder.add(Kind.QUOTE, spoken, here)
        for text in map(tidy, slide.footers):
            if text not in self._footers:
                self._footers.add(text)
                self._builder.add(Kind.PARAGRAPH, text, here)

    def finish(self) -> Document:
        """Return the document. Raises SourceRefused: BROKEN when no slide could be read, NO_TEXT."""
        if self._lost and not self._read:
            raise SourceRefused(Code.BROKEN, f"no slide can be read: {self._package.warnings[-1]}")
        self._builder.warnings = self._package.warnings
        return self._builder.finish(self._package.title() or self._title, PPTX, None)
