"""Where on a page its content stands."""

from __future__ import annotations

from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

# Elements that say so themselves are believed from a few words on.
_DECLARED: Final = ("main", "[role=main]", "#mw-content-text", "#main-content", "#page-content", "#maincontent")
# The habits of generators are believed when most of the page's text is in them.
_HABITUAL: Final = (
    "[itemprop=articleBody]", "div.body", "div.document", ".markdown-body", ".markdown-section", ".td-content",
    "#doc-content", "#content", "#main", "div.content", "article",
    "div.page-content", "div.entry-content", "div.post-content",
)  # fmt: skip
_FEWEST = 20
_MOST_OF = 0.5


def find_root(tree: LexborHTMLParser) -> LexborNode | None:
    """Return the element that holds the content; None for a page without a body."""
    body = tree.body
    if body is None:
        return None
    for selector in _DECLARED:
        found = tree.css(selector)
        if found and (length(found[0]) >= _FEWEST or found[0].css_first("h1") is not None):
            return _article_within(found[0])
    whole = length(body)
    for selector in _HABITUAL:
        found = body.css(selector)
        if len(found) == 1 and length(found[0]) >= _MOST_OF * whole and _keeps_title(found[0], body):
            return found[0]
    return _cell_with_title(body) or body


def _cell_with_title(body: LexborNode) -> LexborNode | None:
    """The cell of a table that lays out the page, where it has the title and most of the text."""
    title = body.css_first("h1") or body.css_first("h2")
    node = title.parent if title is not None else None
    while node is not None and node.tag != "body":
        if node.tag == "td":
            return node if length(node) >= _MOST_OF * length(body) else None
        node = node.parent
    return None


def _article_within(root: LexborNode) -> LexborNode:
    articles = [node for node in root.css("article") if node.mem_id != root.mem_id]
    if len(articles) != 1:
        return root
    article = articles[0]
    if length(article) >= _MOST_OF * length(root) and _keeps_title(article, root):
        return article
    return root


def _keeps_title(inner: LexborNode, outer: LexborNode) -> bool:
    return inner.css_first("h1") is not None or outer.css_first("h1") is None


def length(node: LexborNode) -> int:
    """Characters of text under `node`, blank ones not counted."""
    return len("".join(node.text(deep=True).split()))
