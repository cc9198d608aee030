"""OpenDocument texts (ODT) as a reader sees them: comments, hidden text and deleted passages are left out.

Headers and footers come first, each distinct text once. Pages are made by whoever shows the document, so blocks have no
locator.
"""

from __future__ import annotations

from collections.abc import Iterator

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.chunker.blocks import Document, DocumentBuilder
from services.chunker.office.content import Paragraph
from services.chunker.office.kinds import ODT
from services.chunker.office.margins import margins
from services.chunker.office.markup import DC, Element
from services.chunker.office.opendocument.styles import OFFICE, STYLE, Styles
from services.chunker.office.opendocument.walk import Walk
from services.chunker.office.package import Package
from services.chunker.office.writing import write

_MANIFEST = "META-INF/manifest.xml"
_ENCRYPTION = "{urn:oasis:names:tc:opendocument:xmlns:manifest:1.0}encryption-data"


def parse_odt(body: bytes) -> Document:
    """Parse an OpenDocument text. Raises SourceRefused: BROKEN, ENCRYPTED, SOURCE_TOO_LARGE, TOO_DEEP, NO_TEXT."""
    package = Package(body)
    manifest = _optional(package, _MANIFEST)
    if manifest is not None and next(manifest.iter(_ENCRYPTION), None) is not None:
        raise SourceRefused(Code.ENCRYPTED, "the document is encrypted and needs a password")
    content = package.part("content.xml")
    pages = _optional(package, "styles.xml")
    walk = Walk(Styles(root for root in (pages, content) if root is not None))
    story = content.find(f"{OFFICE}body/{OFFICE}text")
    if story is None:
        raise SourceRefused(Code.BROKEN, "the document has no text body")
    items = walk.story(story)
    builder = DocumentBuilder()
    write(builder, margins(walk.story(part) for part in _margin_parts(pages)))
    write(builder, items)
    heading = next((item.text for item in items if isinstance(item, Paragraph) and item.level == 1), None)
    builder.warnings = package.warnings
    return builder.finish(_title(package) or walk.title or heading, ODT, None)


def _optional(package: Package, name: str) -> Element | None:
    return package.optional(name) if name in package else None


def _margin_parts(pages: Element | None) -> Iterator[Element]:
    if pages is not None:
        yield from pages.iter(STYLE + "header", STYLE + "header-first", STYLE + "header-left")
        yield from pages.iter(STYLE + "footer", STYLE + "footer-first", STYLE + "footer-left")


def _title(package: Package) -> str | None:
    meta = _optional(package, "meta.xml")
    title = meta.findtext(f".//{DC}title") if meta is not None else None
    return str(title).strip() or None if title else None
