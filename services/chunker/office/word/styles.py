"""Styles of a Word document: which paragraphs are headings, list items, code or quotes."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from services.chunker.blocks import Kind
from services.chunker.office.markup import Element, W, switched_on, whole

# Names of built-in styles are English in each language of Word; their ids are not.
_HEADING_NAME = re.compile(r"heading ?([1-9])")
_TITLE = "title"
_CODE_NAME = re.compile(
    r"(?:source ?)?code(?: ?(?:block|text|paragraph|sample|example|listing|snippet))?"
    r"|html (?:preformatted|code)|preformatted(?: text)?|verbatim|macro(?: text)?|(?:program|code) ?listing"
)
_QUOTE_NAMES = frozenset(("quote", "intense quote", "block text", "block quote", "quotations", "blockquote"))
_MONO = re.compile(
    r"mono|courier|consolas|menlo|monaco|lucida console|fixedsys|terminal|inconsolata|cascadia|fira code|source code"
    r"|typewriter|hack$",
    re.IGNORECASE,
)
# The outline level of body text, one beyond the nine levels of headings.
_BODY_LEVEL: Final = 9
_LONGEST_CHAIN: Final = 20


class Style(NamedTuple):
    """What a style says of a paragraph or a run; None where it says nothing."""

    kind: Kind | None = None
    outline: int | None = None
    number: str | None = None
    number_level: int | None = None
    mono: bool | None = None
    hidden: bool | None = None
    title: bool = False

    @property
    def level(self) -> int:
        """The level of a heading, from 1; 0 for other text."""
        return 0 if self.outline is None or self.outline >= _BODY_LEVEL else self.outline + 1


_PLAIN = Style()


class Styles:
    """The styles by id, each with what it takes over from those that it is based on."""

    def __init__(self, root: Element | None) -> None:
        self._elements: dict[str, Element] = {}
        self._resolved: dict[str, Style] = {}
        self._default = ""
        for element in root.iter(W + "style") if root is not None else ():
            identifier = element.get(W + "styleId", "")
            self._elements[identifier] = element
            if element.get(W + "type") == "paragraph" and element.get(W + "default") in ("1", "true", "on"):
                self._default = identifier

    def of_paragraph(self, properties: Element | None) -> Style:
        """The style of a paragraph with its own `pPr` on top."""
        if properties is None:
            return self.named(self._default)
        style = self.named(_value(properties.find(W + "pStyle")) or self._default)
        return _with_paragraph(style, properties)

    def of_run(self, properties: Element, paragraph: Style) -> Style:
        """The style of a run with its own `rPr` on top of its paragraph's."""
        name = _value(properties.find(W + "rStyle"))
        if name:
            own = self.named(name)
            paragraph = paragraph._replace(
                mono=paragraph.mono if own.mono is None else own.mono,
                hidden=paragraph.hidden if own.hidden is None else own.hidden,
            )
        return _with_run(paragraph, properties)

    def named(self, identifier: str) -> Style:
        """The style of an id. One that is not defined is judged by the id itself."""
        if identifier not in self._resolved:
            self._resolved[identifier] = self._resolve(identifier)
        return self._resolved[identifier]

    def _resolve(self, identifier: str) -> Style:
        chain: list[Element] = []
        name = identifier
        while name in self._elements and len(chain) < _LONGEST_CHAIN:
            chain.append(self._elements[name])
            name = _value(self._elements[name].find(W + "basedOn"))
        if not chain:
            return _by_name(_PLAIN, identifier)
        style = _PLAIN
        for element in reversed(chain):
            style = _with_style(style, element)
        return style


def _with_style(style: Style, element: Element) -> Style:
    if style.title:
        # What is based on the title, as a subtitle may be, is none.
        style = style._replace(outline=None, title=False)
    style = _by_name(style, _value(element.find(W + "name")))
    paragraph, run = element.find(W + "pPr"), element.find(W + "rPr")
    if paragraph is not None:
        style = _with_paragraph(style, paragraph)
    return _with_run(style, run) if run is not None else style


def _by_name(style: Style, name: str) -> Style:
    name = name.strip().lower()
    heading = _HEADING_NAME.fullmatch(name)
    if heading:
        return style._replace(outline=int(heading[1]) - 1)
    if name == _TITLE:
        return style._replace(outline=0, title=True)
    if _CODE_NAME.fullmatch(re.sub(r"[\s_-]+", " ", name)):
        return style._replace(kind=Kind.CODE)
    if name in _QUOTE_NAMES:
        return style._replace(kind=Kind.QUOTE)
    return style


def _with_paragraph(style: Style, properties: Element) -> Style:
    outline = properties.find(W + "outlineLvl")
    if outline is not None:
        style = style._replace(outline=whole(outline.get(W + "val"), _BODY_LEVEL, 0, _BODY_LEVEL))
    numbering = properties.find(W + "numPr")
    if numbering is not None:
        number, level = _value(numbering.find(W + "numId")), numbering.find(W + "ilvl")
        style = style._replace(
            number=number or style.number,
            number_level=whole(level.get(W + "val")) if level is not None else style.number_level,
        )
    return style


def _with_run(style: Style, properties: Element) -> Style:
    fonts, hidden = properties.find(W + "rFonts"), properties.find(W + "vanish")
    if hidden is not None:
        style = style._replace(hidden=switched_on(hidden, W + "val"))
    if fonts is not None and (fonts.get(W + "ascii") or fonts.get(W + "asciiTheme")):
        style = style._replace(mono=bool(_MONO.search(fonts.get(W + "ascii", ""))))
    return style


def _value(element: Element | None) -> str:
    return element.get(W + "val", "") if element is not None else ""
