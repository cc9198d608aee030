"""Footnotes and endnotes: numbered in the order of their references, each given out once."""

from __future__ import annotations

from services.chunker.office.markup import Element, W
from services.chunker.office.numbers import roman

_SEPARATORS = frozenset(("separator", "continuationSeparator", "continuationNotice"))


class Notes:
    """The notes of a document. Footnotes are marked [1], endnotes [i], as Word numbers them unless told otherwise."""

    def __init__(self, footnotes: Element | None, endnotes: Element | None) -> None:
        self._bodies = {
            W + "footnoteReference": _by_id(footnotes, W + "footnote"),
            W + "endnoteReference": _by_id(endnotes, W + "endnote"),
        }
        self._markers: dict[tuple[str, str], str] = {}
        self._counts = dict.fromkeys(self._bodies, 0)
        self._due: list[tuple[str, Element]] = []

    def refer(self, reference: str, identifier: str) -> str:
        """Return the marker for a reference, an element's name and the id in it; "" when there is no such note."""
        body = self._bodies[reference].get(identifier)
        if body is None:
            return ""
        key = reference, identifier
        if key not in self._markers:
            self._counts[reference] += 1
            number = self._counts[reference]
            self._markers[key] = f"[{roman(number) if reference == W + 'endnoteReference' else number}]"
            self._due.append((self._markers[key], body))
        return self._markers[key]

    def due(self) -> list[tuple[str, Element]]:
        """Return marker and body of the notes referred to since the last call."""
        due, self._due = self._due, []
        return due


def _by_id(root: Element | None, tag: str) -> dict[str, Element]:
    if root is None:
        return {}
    notes = root.iterfind(tag)
    return {note.get(W + "id", ""): note for note in notes if note.get(W + "type") not in _SEPARATORS}
