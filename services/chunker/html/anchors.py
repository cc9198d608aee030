"""Which id of the page leads to a heading."""

from __future__ import annotations

from collections.abc import Callable

from selectolax.lexbor import LexborNode

from services.chunker.html.inline import squeeze


class Anchors:
    """The ids met since the last text, in document order: those of open elements, and the last of those closed.

    Of a heading, its own id is best; then one inside it; then that of a link beside it; then that of the wrapper
    which it opens; then that of an empty element right before it; then the last place known above it.
    """

    def __init__(self, first: str | None) -> None:
        """`first` is an id at or above the beginning of the content."""
        self._wrappers: list[str] = []
        self._passed: str | None = None
        self._last = first

    def open(self, identifier: str) -> Callable[[], None]:
        """An element with an id begins. Returns what to call at its end."""
        wrappers = self._wrappers
        place = len(wrappers)
        wrappers.append(identifier)

        def close() -> None:
            # After text the list is another one, and the id no longer matters.
            if wrappers is self._wrappers:
                del wrappers[place:]
                self._passed = identifier

        return close

    def spoken(self, anchor: str | None = None) -> None:
        """Text has been put out, at `anchor` if given: the ids before it don't belong to what follows."""
        if self._wrappers or self._passed:
            anchor = anchor or (self._wrappers[-1] if self._wrappers else self._passed)
            self._wrappers = []
            self._passed = None
        self._last = anchor or self._last

    def for_heading(self, node: LexborNode, identifier: str | None) -> str | None:
        """The anchor of the heading `node`, whose own id is `identifier`; None when no id is known at all."""
        wrapper = self._wrappers[-1] if self._wrappers else None
        return identifier or inner_anchor(node) or _anchor_after(node) or wrapper or self._passed or self._last


def _anchor_after(heading: LexborNode) -> str | None:
    """The id of a link without text that stands beside a heading, in a box of their own."""
    link = heading.next
    if link is None or link.tag != "a" or link.next is not None or heading.prev is not None:
        return None
    return link.id if not squeeze(link.text(deep=True)) else None


def inner_anchor(node: LexborNode) -> str | None:
    """The first id, or name of an anchor, under `node`."""
    for found in node.css("[id],a[name]"):
        if found.mem_id != node.mem_id:
            return found.attributes.get("id") or found.attributes.get("name") or None
    return None


def nearest_above(root: LexborNode) -> str | None:
    """The id of `root` or of what is around it."""
    node: LexborNode | None = root
    while node is not None and node.tag not in ("html", None):
        if node.id:
            return node.id
        node = node.parent
    return None
