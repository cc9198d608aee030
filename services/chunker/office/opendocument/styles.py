"""Styles of an OpenDocument text: what paragraphs are, which text is hidden, how lists are marked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from services.chunker.blocks import Kind
from services.chunker.office.markup import Element, whole
from services.chunker.office.numbers import written

_ODF: Final = "urn:oasis:names:tc:opendocument:xmlns:"
OFFICE: Final = f"{{{_ODF}office:1.0}}"
TEXT: Final = f"{{{_ODF}text:1.0}}"
TABLE: Final = f"{{{_ODF}table:1.0}}"
DRAW: Final = f"{{{_ODF}drawing:1.0}}"
STYLE: Final = f"{{{_ODF}style:1.0}}"

_LONGEST_CHAIN: Final = 20
_KINDS = {"preformatted text": Kind.CODE, "source code": Kind.CODE, "quotations": Kind.QUOTE}
_TITLE = "title"
_ESCAPE = re.compile(r"_([0-9a-f]{2,4})_")
# The number formats of OpenDocument, in the words of the module that writes numbers.
_FORMATS = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}


class Marking(NamedTuple):
    """How a level of a list is marked: with a bullet where there is no `style`."""

    style: str | None = None
    prefix: str = ""
    suffix: str = "."
    start: int = 1

    def marker(self, number: int) -> str:
        """The marker of an item."""
        return "-" if self.style is None else f"{self.prefix}{written(number, self.style)}{self.suffix}".strip()


class Styles:
    """The styles of the given parts, by name."""

    def __init__(self, roots: Iterable[Element]) -> None:
        self._parents: dict[str, str] = {}
        self._hidden: set[str] = set()
        self._lists: dict[str, dict[int, Marking]] = {}
        for root in roots:
            for style in root.iter(STYLE + "style"):
                name = style.get(STYLE + "name", "")
                self._parents[name] = style.get(STYLE + "parent-style-name", "")
                text = style.find(STYLE + "text-properties")
                if text is not None and text.get(TEXT + "display") == "none":
                    self._hidden.add(name)
            for style in root.iter(TEXT + "list-style"):
                self._lists[style.get(STYLE + "name", "")] = dict(map(_level, style))

    def kind(self, name: str) -> Kind:
        """What a paragraph of a style is."""
        return next((_KINDS[known] for known in self._names(name) if known in _KINDS), Kind.PARAGRAPH)

    def is_title(self, name: str) -> bool:
        """Whether a style is that of the document's title."""
        return _TITLE in self._names(name)

    def is_hidden(self, name: str) -> bool:
        """Whether text of a style is not shown."""
        return name in self._hidden

    def marking(self, name: str, depth: int) -> Marking:
        """How the items of a list are marked; `depth` is from 0."""
        return self._lists.get(name, {}).get(depth + 1, Marking())

    def _names(self, name: str) -> list[str]:
        """The names of a style and of those that it is based on, as they are shown, in small letters."""
        chain: list[str] = []
        while name and len(chain) < _LONGEST_CHAIN:
            chain.append(_ESCAPE.sub(lambda found: chr(int(found[1], 16)), name).lower())
            name = self._parents.get(name, "")
        return chain


def _level(element: Element) -> tuple[int, Marking]:
    level = whole(element.get(TEXT + "level"), 1)
    form = element.get(STYLE + "num-format", "")
    if element.tag != TEXT + "list-level-style-number" or not form:
        return level, Marking()
    prefix, suffix = element.get(STYLE + "num-prefix", ""), element.get(STYLE + "num-suffix", "")
    return level, Marking(_FORMATS.get(form, "decimal"), prefix, suffix, whole(element.get(TEXT + "start-value"), 1))
