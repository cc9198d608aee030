"""The walk through the content of a page, which makes blocks of it. It keeps its own stack, so depth is no danger."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from selectolax.lexbor import LexborNode

from services.chunker.blocks import DocumentBuilder, Kind, Locator, pipe_row, table_pieces
from services.chunker.html.anchors import Anchors, inner_anchor, nearest_above
from services.chunker.html.code import code_text, fenced, is_code_box, language
from services.chunker.html.furniture import Furniture, is_page_index, mostly_links
from services.chunker.html.inline import flow_text, is_permalink, squeeze
from services.chunker.html.lists import Lists
from services.chunker.html.phrases import is_chatter
from services.chunker.html.tables import caption, table_rows

_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_BLOCK_NAMES = (
    "p div section article main ul ol li dl dt dd table caption tbody thead tfoot tr td th blockquote figure"
    " figcaption details summary header footer aside address hr center form fieldset legend body menu"
)
_BLOCKS = frozenset(_BLOCK_NAMES.split())
# Deeper titles open sections as well, but are told apart: outlines of pages end here.
_DEEPEST_MAJOR: Final = 3
# DocBook writes the title of a note as a heading; it opens no section.
_NOTE_NAMES = "note tip caution warning important admonition hint attention danger error seealso sidebar callout alert"
_NOTES = frozenset(_NOTE_NAMES.split())
# Stands for `br` within a flow: other line ends there are mere white space, and the parser lets no NUL through.
_BREAK: Final = "\x00"


class Walk:
    """Walks one page; `builder` receives the blocks.

    `slug`, where given, makes the anchor of a heading that has no id of its own.
    """

    def __init__(self, builder: DocumentBuilder, slug: Callable[[str], str] | None = None) -> None:
        self._builder = builder
        self._slug = slug
        self._flow: list[str] = []
        self._stack: list[LexborNode | Callable[[], None] | None] = []
        self._anchors = Anchors(None)
        self._titled = True
        self._lists = Lists()
        self._quotes = 0
        self._term: Locator | None = None

    def through(self, root: LexborNode, top: str | None = None) -> None:
        """Put out all blocks under `root`; `top` is an id to fall back on for headings that have none near them."""
        self._anchors = Anchors(nearest_above(root) or inner_anchor(root) or top)
        self._furniture = Furniture(root)
        self._titled = root.css_first("h1") is None
        self._stack.append(root.child)
        while self._stack:
            step = self._stack.pop()
            if step is None:
                continue
            if isinstance(step, LexborNode):
                self._stack.append(step.next)
                self._visit(step)
            else:
                step()
        self._flush()

    def _visit(self, node: LexborNode) -> None:
        tag = node.tag
        if tag == "-text":
            self._flow.append(node.text_content or "")
            return
        if tag is None or tag[0] in "-_!":
            return
        attributes = node.attributes
        identifier = attributes.get("id") or (attributes.get("name") if tag == "a" else None)
        if self._furniture.holds(node):
            self._flush()
        elif tag in _HEADINGS:
            self._heading(node, _HEADINGS[tag], identifier)
        elif tag == "br":
            self._flow.append(_BREAK)
        elif tag == "pre" or is_code_box(node, tag, attributes.get("class")):
            self._code(node)
        elif tag in _BLOCKS:
            self._block(node, tag, identifier)
        elif not is_permalink(node, tag):
            self._enter(node, identifier)

    def _enter(self, node: LexborNode, identifier: str | None, leave: Callable[[], None] | None = None) -> None:
        """Go on with the children of `node`; `leave` runs after the last of them."""
        if identifier:
            self._stack.append(self._anchors.open(identifier))
        if leave:
            self._stack.append(leave)
        self._stack.append(node.child)

    def _block(self, node: LexborNode, tag: str, identifier: str | None) -> None:
        self._flush()
        if tag == "table" and self._table(node):
            return
        leave = self._flush
        if tag in ("ul", "ol", "menu"):
            if is_page_index(node) or (not self._titled and mostly_links(node)):
                return
            self._lists.open(node, tag)
            leave = self._leave_list
        elif tag == "li":
            self._lists.open_item()
            leave = self._leave_item
        elif tag == "blockquote":
            self._quotes += 1
            leave = self._leave_quote
        elif tag in ("dt", "dl"):
            leave = self._open_term(node, tag, identifier)
        self._enter(node, identifier, leave)

    def _open_term(self, node: LexborNode, tag: str, identifier: str | None) -> Callable[[], None]:
        """A term with an id locates what defines it, up to the end of its list."""
        if tag == "dt":
            anchor = identifier or inner_anchor(node)
            self._term = Locator(anchor=anchor) if anchor else self._term
            return self._flush
        outer = self._term

        def leave() -> None:
            self._flush()
            self._term = outer

        return leave

    def _leave_list(self) -> None:
        self._flush()
        self._lists.close()

    def _leave_item(self) -> None:
        self._flush()
        self._lists.close_item()

    def _leave_quote(self) -> None:
        self._flush()
        self._quotes -= 1

    def _flush(self) -> None:
        """Put out the inline text gathered so far as one block."""
        if not self._flow:
            return
        raw = "".join(self._flow)
        self._flow.clear()
        text = squeeze(raw) if _BREAK not in raw else "\n".join(filter(None, map(squeeze, raw.split(_BREAK))))
        if not text:
            return
        if self._lists:
            self._put(Kind.LIST, self._lists.indented(text))
        elif not is_chatter(text):
            self._put(Kind.QUOTE if self._quotes else Kind.PARAGRAPH, text)

    def _put(self, kind: Kind, text: str) -> None:
        self._anchors.spoken()
        self._builder.add(kind, text, self._term)

    def _heading(self, node: LexborNode, level: int, identifier: str | None) -> None:
        self._flush()
        self._titled = self._titled or level == 1
        text = flow_text(node)
        if not text:
            return
        if _titles_a_note(node):
            self._put(Kind.HEADING, text)
            return
        if self._slug and not identifier:
            identifier = self._slug(text)
        anchor = self._anchors.for_heading(node, identifier)
        self._anchors.spoken(anchor)
        self._term = None
        self._builder.heading(level, text, Locator(anchor=anchor) if anchor else None, minor=level > _DEEPEST_MAJOR)

    def _code(self, node: LexborNode) -> None:
        self._flush()
        text = code_text(node)
        if text.strip():
            self._put(Kind.CODE, fenced(text, language(node)))

    def _table(self, node: LexborNode) -> bool:
        """Put out a table of data; False for one that is layout, whose cells are then walked through."""
        table = table_rows(node)
        if table is None:
            return False
        title = caption(node)
        if title:
            self._put(Kind.PARAGRAPH, title)
        rows, header_rows = table
        for piece in table_pieces([pipe_row(cells) for cells in rows], header_rows):
            self._put(Kind.TABLE, piece)
        return True


def _titles_a_note(heading: LexborNode) -> bool:
    box = heading.parent
    if box is None:
        return False
    return not _NOTES.isdisjoint((box.attributes.get("class") or "").lower().split())
