"""The text of one flow of inline elements."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

_ZERO_WIDTH = re.compile("[\u200b\u2060\ufeff\u00ad]")
# Signs that generators put beside a heading as a link to it.
PERMALINKS = frozenset(("", "¶", "#", "§", "🔗", "\uf0c1", "[link]", "∞", "◆", "⚓", "🔗\ufe0f"))
_APART_NAMES = (
    "p div section article li ul ol dl dt dd table tr td th pre blockquote h1 h2 h3 h4 h5 h6 br hr figure figcaption"
    " caption summary details header center tbody thead"
)
_APART = frozenset(_APART_NAMES.split())


def squeeze(text: str) -> str:
    """Collapse white space as a browser does, and drop characters of no width."""
    if not text.isascii():
        text = _ZERO_WIDTH.sub("", text)
    return " ".join(text.split())


def flow_text(node: LexborNode) -> str:
    """The text under `node` on one line; blocks within it are set apart by a space."""
    pieces: list[str] = []
    stack: list[LexborNode | str | None] = [node.child]
    while stack:
        current = stack.pop()
        if current is None:
            continue
        if isinstance(current, str):
            pieces.append(current)
            continue
        stack.append(current.next)
        tag = current.tag
        if tag == "-text":
            pieces.append(current.text_content or "")
        elif tag is not None and tag[0] not in "-_!" and not is_permalink(current, tag):
            if tag in _APART:
                pieces.append(" ")
                stack.append(" ")
            stack.append(current.child)
    return squeeze("".join(pieces))


def is_permalink(node: LexborNode, tag: str) -> bool:
    """Whether `node` is a link that shows nothing but a sign."""
    if tag != "a":
        return False
    child = node.child
    if child is None or child.tag != "-text" or child.next is not None:
        return False
    return squeeze(child.text_content or "") in PERMALINKS and (node.attrs.get("href") or "").find("#") >= 0
