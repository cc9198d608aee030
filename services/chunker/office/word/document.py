"""Word documents (DOCX, with or without macros, and templates) as a reader sees them with all changes accepted.

Reviewers' comments are left out: they are talk about the document, not part of it. Deleted, moved-away and hidden text
is left out too. Headers and footers come first, as they belong to no section; page numbers in them are dropped. Pages
are made by whoever shows the document, so blocks have no locator.
"""

from __future__ import annotations

from collections.abc import Iterator

from services.chunker.blocks import Document, DocumentBuilder
from services.chunker.office.content import Item, Paragraph
from services.chunker.office.graphics import Graphics
from services.chunker.office.kinds import DOCX
from services.chunker.office.margins import margins
from services.chunker.office.markup import Element, R, W
from services.chunker.office.package import Package
from services.chunker.office.word.notes import Notes
from services.chunker.office.word.numbering import Numbering
from services.chunker.office.word.styles import Styles
from services.chunker.office.word.walk import Walk
from services.chunker.office.writing import write


def parse_docx(body: bytes) -> Document:
    """Parse a Word document. Raises SourceRefused: BROKEN, ENCRYPTED, SOURCE_TOO_LARGE, TOO_DEEP, NO_TEXT."""
    package = Package(body)
    main = package.main("word/document.xml")
    root = package.part(main)
    walk = Walk(
        Styles(package.optional(package.related(main, "styles"))),
        Numbering(package.optional(package.related(main, "numbering"))),
        Notes(
            package.optional(package.related(main, "footnotes")), package.optional(package.related(main, "endnotes"))
        ),
        Graphics(package, main),
    )
    story = root.find(W + "body")
    items = walk.story(story if story is not None else root)
    builder = DocumentBuilder()
    write(builder, margins(walk.story(part) for part in _margin_parts(package, main, root)))
    write(builder, items)
    if walk.imported:
        package.warnings.append(f"{walk.imported} imported documents inside this one are left out")
    builder.warnings = package.warnings
    return builder.finish(package.title() or walk.title or _first_heading(items), DOCX, None)


def _margin_parts(package: Package, main: str, root: Element) -> Iterator[Element]:
    """The headers, then the footers, in the order in which the sections name them."""
    relations = package.relations(main)
    for tag in (W + "headerReference", W + "footerReference"):
        identifiers = dict.fromkeys(reference.get(R + "id", "") for reference in root.iter(tag))
        for identifier in identifiers:
            part = package.optional(relations[identifier].target) if identifier in relations else None
            if part is not None:
                yield part


def _first_heading(items: list[Item]) -> str | None:
    return next((item.text for item in items if isinstance(item, Paragraph) and item.level == 1), None)
