"""The text of headers and footers without page numbers, which mean nothing where there are no pages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from services.chunker.office.content import Item, Paragraph, Table, flat

# What the readers put for a page number. It can't be stored, so it vanishes from any other text.
PAGE_NUMBER: Final = "\x00"
_PAGE_WORDS = (
    "pages?|p|pg|pp|seite|s|página|pág|pagina|pag|strana|strona|str|sida|side|sivu|страница|стр|c|с|oldal|sayfa"
)
_OF_WORDS = r"of|de|von|van|di|av|af|sur|z|ze|iz|из|/|\|"
# Signs and numbers of chapters that are written close to the number of a page.
_CLOSE = r"[A-Z]?[\d.\-–—/()\[\]第共页頁]{0,8}"
_NUMBER = rf"{_CLOSE}{PAGE_NUMBER}{_CLOSE}"
# "Page 3 of 10" and the like, where the numbers are fields.
_PAGE = re.compile(
    rf"(?:\b(?:{_PAGE_WORDS})\b\.?)?[ \t]*{_NUMBER}(?:[ \t]*(?:{_OF_WORDS})?[ \t]*{_NUMBER})?", re.IGNORECASE
)


def margins(stories: Iterable[Iterable[Item]]) -> list[Item]:
    """Return each distinct text of the given headers and footers once, in order."""
    found = dict.fromkeys("\n".join(filter(None, map(_text, story))) for story in stories)
    return [Paragraph(text) for text in found if text]


def _text(item: Item) -> str:
    if isinstance(item, Table):
        cells = (_without_page(flat(cell)) for row in item.rows for cell in row.cells)
        return " ".join(filter(None, cells))
    lines = (_without_page(line) for line in item.text.split("\n"))
    return "\n".join(filter(None, lines))


def _without_page(text: str) -> str:
    """A line without page numbers; "" when nothing is left but signs."""
    plain = " ".join(_PAGE.sub(" ", text).split())
    return plain if any(sign.isalnum() for sign in plain) else ""
