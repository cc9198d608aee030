"""Where in nested lists the walk stands, and what goes in front of an item's lines."""

from __future__ import annotations

from selectolax.lexbor import LexborNode


class Lists:
    """A stack of open lists, each with the number of its next item; None for bullets."""

    def __init__(self) -> None:
        self._next: list[int | None] = []
        self._items: list[int] = []
        self._marker = ""

    def __bool__(self) -> bool:
        """Whether the walk is inside an item."""
        return bool(self._items)

    def open(self, node: LexborNode, tag: str) -> None:
        """A list begins."""
        self._next.append(_first_number(node) if tag == "ol" else None)

    def close(self) -> None:
        """The innermost list ends."""
        self._next.pop()

    def open_item(self) -> None:
        """An item begins; an item outside of any list counts as one of bullets."""
        number = self._next[-1] if self._next else None
        if number is None:
            self._marker = "- "
        else:
            self._marker = f"{number}. "
            self._next[-1] = number + 1
        self._items.append(len(self._marker))

    def close_item(self) -> None:
        """The innermost item ends."""
        self._items.pop()
        self._marker = ""

    def indented(self, text: str) -> str:
        """`text` as the next lines of the innermost item, its marker in front when they are the first."""
        outer = " " * sum(self._items[:-1])
        inner = " " * sum(self._items)
        lead = outer + self._marker if self._marker else inner
        self._marker = ""
        return lead + text.replace("\n", "\n" + inner)


def _first_number(node: LexborNode) -> int:
    start = node.attributes.get("start") or "1"
    return int(start) if start.isdecimal() and len(start) < 7 else 1
