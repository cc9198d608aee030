"""The text of one paragraph of an OpenDocument text."""

from __future__ import annotations

import re

from services.chunker.office.margins import PAGE_NUMBER
from services.chunker.office.markup import Element, whole
from services.chunker.office.opendocument.styles import DRAW, OFFICE, TEXT, Styles

# Line ends and runs of blanks in the markup are no more than one blank; those that count are elements.
_BLANKS = re.compile(r"[ \t\r\n]+")
_MOST_BLANKS = 200
_SKIPPED = frozenset(
    (
        OFFICE + "annotation",
        OFFICE + "annotation-end",
        TEXT + "ruby-text",
        TEXT + "hidden-text",
        TEXT + "hidden-paragraph",
        TEXT + "script",
        TEXT + "tracked-changes",
    )
)
_PAGES = frozenset((TEXT + "page-number", TEXT + "page-count"))


class Flow:
    """Reads one paragraph. `boxes` are what is drawn in it, such as frames; `notes` its notes, marker and body."""

    def __init__(self, styles: Styles, node: Element) -> None:
        self.boxes: list[Element] = []
        self.notes: list[tuple[str, Element]] = []
        self._styles = styles
        self._pieces: list[str] = []
        self._read(node)

    @property
    def text(self) -> str:
        """The text; line feeds are line breaks."""
        return "".join(self._pieces)

    def _read(self, node: Element) -> None:
        self._add(node.text)
        for child in node:
            tag = child.tag
            if tag == TEXT + "s":
                self._pieces.append(" " * whole(child.get(TEXT + "c"), 1, 0, _MOST_BLANKS))
            elif tag == TEXT + "tab":
                self._pieces.append("\t")
            elif tag == TEXT + "line-break":
                self._pieces.append("\n")
            elif tag in _PAGES:
                self._pieces.append(PAGE_NUMBER)
            elif tag == TEXT + "note":
                self._refer(child)
            elif tag.startswith(DRAW) and tag != DRAW + "a":
                self.boxes.append(child)
            elif tag not in _SKIPPED and not self._styles.is_hidden(child.get(TEXT + "style-name", "")):
                self._read(child)
            self._add(child.tail)

    def _add(self, text: str | None) -> None:
        if text:
            self._pieces.append(_BLANKS.sub(" ", text))

    def _refer(self, note: Element) -> None:
        marker = f"[{(note.findtext(TEXT + 'note-citation') or '*').strip()}]"
        self._pieces.append(marker)
        body = note.find(TEXT + "note-body")
        if body is not None:
            self.notes.append((marker, body))
