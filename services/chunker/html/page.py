"""HTML pages: the content of the page as blocks, its headings with the ids that lead to them."""

from __future__ import annotations

import re
from collections.abc import Callable

from selectolax.lexbor import LexborHTMLParser, LexborNode

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.chunker.blocks import Document, DocumentBuilder, Kind, Locator
from services.chunker.html.anchors import inner_anchor
from services.chunker.html.boilerplate import remove_furniture
from services.chunker.html.depth import refuse_deep
from services.chunker.html.inline import squeeze
from services.chunker.html.main_content import find_root
from services.chunker.html.walk import Walk

_WITHOUT_SCRIPT = re.compile(
    r"enable javascript|javascript (?:is )?(?:required|enabled|disabled)|requires javascript", re.I
)
_APP_ROOT = re.compile(
    r"""<(?:div|main)[^>]*\bid=["']?(?:app|root|__next|__nuxt|app-root|main-app|gatsby|___gatsby)\b""", re.I
)
# A page drawn by scripts says "Loading" or "Please wait" before them.
_SHELL_WORDS = 20


def parse_html(text: str, charset: str | None) -> Document:
    """Parse a page. Raises SourceRefused with NO_TEXT, also for a shell that scripts fill, or TOO_DEEP."""
    refuse_deep(text)
    tree = LexborHTMLParser(text)
    title_node = tree.css_first("title")
    title = squeeze(title_node.text(deep=True)) if title_node is not None else ""
    top = inner_anchor(tree.body) if tree.body is not None else None
    remove_furniture(tree)
    root = find_root(tree)
    builder = _walked(root, top)
    _refuse_shell(builder, text)
    if title and not builder.has_sections and builder.words:
        # A page without any heading is known by its title alone.
        builder = _walked(root, top, title)
    document = builder.finish(title, "text/html", charset)
    if document.title is None:
        document.title = next((block.text for block in document.blocks if block.kind is Kind.HEADING), None)
    return document


def _walked(root: LexborNode | None, top: str | None, title: str = "") -> DocumentBuilder:
    builder = DocumentBuilder()
    builder.heading(1, title, Locator(anchor=top) if top else None)
    if root is not None:
        Walk(builder).through(root, top)
    return builder


def walk_fragment(html: str, builder: DocumentBuilder, slug: Callable[[str], str] | None = None) -> None:
    """Add the blocks of HTML that stands within another format; `slug` makes the anchors of its headings."""
    refuse_deep(html)
    tree = LexborHTMLParser(html)
    remove_furniture(tree)
    if tree.body is not None:
        Walk(builder, slug).through(tree.body)


def _refuse_shell(builder: DocumentBuilder, html: str) -> None:
    if builder.has_sections or builder.words >= _SHELL_WORDS:
        return
    if "<script" in html and (_APP_ROOT.search(html) or _WITHOUT_SCRIPT.search(html)):
        raise SourceRefused(Code.NO_TEXT, "the page is drawn by scripts: its HTML holds no text of its own")
