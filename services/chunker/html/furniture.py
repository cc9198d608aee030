"""Which containers within the content of a page are furniture, by their names and tags."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final

from selectolax.lexbor import LexborNode

from services.chunker.html.boilerplate import linked_share
from services.chunker.html.names import Said, name_says

_CONTAINER_NAMES = "div section header footer aside ul ol p table form figure span center details dl address"
_CONTAINERS: Final = frozenset(_CONTAINER_NAMES.split())
_ASIDE_OF_TEXT: Final = re.compile(r"footnote|topic|admonition|note|callout")
_LONGEST_TRAIL: Final = 300
# What a name says is not asked of a text so long without a look at the rest of the page.
_LONG: Final = 2000


class Furniture:
    """Tells furniture on one page. A container that has most of what the page says is none, whatever its name."""

    def __init__(self, root: LexborNode) -> None:
        self._root = root

    def holds(self, node: LexborNode) -> bool:
        """Whether a container is furniture by its name, and neither holds a title nor much text."""
        tag = node.tag
        if tag not in _CONTAINERS:
            return False
        if tag in ("footer", "aside", "header") and _is_furniture_by_tag(node, tag):
            return True
        attributes = node.attributes
        classes, identifier = attributes.get("class"), attributes.get("id")
        if not classes and not identifier:
            return False
        return self._confirmed(name_says(f"{classes or ''} {identifier or ''}"), node, tag)

    def _confirmed(self, said: Said, node: LexborNode, tag: str) -> bool:
        match said:
            case "furniture":
                return node.css_first("h1") is None and not self._is_bulk(node)
            case "doubtful":
                return node.css_first("h1,p + p + p,dl,pre,.sidebar-title") is None and not self._is_bulk(node)
            case "related":
                return tag == "div"
            case "trail":
                return len(node.text(deep=True)) <= _LONGEST_TRAIL and mostly_links(node)
            case "contents":
                return is_page_index(node, 0.5)
        return False

    def _is_bulk(self, node: LexborNode) -> bool:
        return len(node.text(deep=True)) > _LONG and _unlinked(node) > 0.5 * self._whole

    @cached_property
    def _whole(self) -> int:
        return _unlinked(self._root)


def _unlinked(node: LexborNode) -> int:
    return round(len("".join(node.text(deep=True).split())) * (1 - linked_share(node)))


def mostly_links(node: LexborNode) -> bool:
    """Whether half of the text under `node` stands in links."""
    return node.css_first("a") is not None and linked_share(node) >= 0.5


def _is_furniture_by_tag(node: LexborNode, tag: str) -> bool:
    parent = node.parent
    if tag == "footer":
        return parent is None or parent.tag != "blockquote"
    if tag == "aside":
        return mostly_links(node) and not _ASIDE_OF_TEXT.search(node.attributes.get("class") or "")
    return parent is not None and parent.tag in ("body", "div") and _heads_the_site(node)


def _heads_the_site(header: LexborNode) -> bool:
    """Whether a header has no title in it and is no part of an article."""
    if header.css_first("h1,h2,h3") is not None:
        return False
    node = header.parent
    while node is not None and node.tag != "body":
        if node.tag in ("main", "article", "section"):
            return False
        node = node.parent
    return True


def is_page_index(node: LexborNode, least_share: float = 0.8) -> bool:
    """Whether `node` lists links to places of the page itself and little else: the headings say the same again."""
    links = node.css("a[href]")
    if len(links) < 2 or node.attributes.get("role") == "tablist":
        return False
    linked = 0
    for link in links:
        if not (link.attributes.get("href") or "").startswith("#"):
            return False
        linked += len("".join(link.text(deep=True).split()))
    return linked >= least_share * len("".join(node.text(deep=True).split()))
