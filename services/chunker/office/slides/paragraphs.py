"""The paragraphs of a text body in DrawingML, with the bullets and numbers that they have or inherit."""

from __future__ import annotations

from collections.abc import Iterable

from services.chunker.blocks import Kind
from services.chunker.office.content import Item, Paragraph
from services.chunker.office.equations import equation
from services.chunker.office.markup import MC, A, Element, M, chosen_branch, whole
from services.chunker.office.numbers import written

_DEEPEST = 8
_BULLETS = frozenset((A + "buChar", A + "buBlip"))
_DATED_FIELDS = ("slidenum", "datetime")


def paragraphs(body: Element, styles: Iterable[Element] = ()) -> list[Item]:
    """Return the paragraphs of `body`; `styles` are lists of level properties to take bullets from, nearest first."""
    inherited = list(styles)
    counts: dict[int, int] = {}
    items: list[Item] = []
    for node in body.iterfind(A + "p"):
        text = paragraph_text(node)
        if not text.strip():
            continue
        properties = node.find(A + "pPr")
        depth = whole(properties.get("lvl"), 0, 0, _DEEPEST) if properties is not None else 0
        bullet = _bullet(properties, depth, inherited)
        counts = {level: count for level, count in counts.items() if level < depth + (bullet is not None)}
        marker = _marker(bullet, depth, counts)
        kind = Kind.LIST if marker else Kind.PARAGRAPH
        items.append(Paragraph(text, kind, marker=marker, depth=depth if marker else 0))
    return items


def paragraph_text(node: Element) -> str:
    """The text of a paragraph; line feeds are line breaks. Numbers of slides and dates that change are left out."""
    pieces: list[str] = []
    for child in node:
        if child.tag == A + "br":
            pieces.append("\n")
        elif child.tag == A + "r" or (child.tag == A + "fld" and not child.get("type", "").startswith(_DATED_FIELDS)):
            pieces.append(child.findtext(A + "t") or "")
        elif child.tag == MC + "AlternateContent":
            branch = chosen_branch(child)
            pieces.extend(map(equation, branch.iter(M + "oMath")) if branch is not None else ())
        elif child.tag not in (A + "pPr", A + "fld"):
            pieces.extend(map(equation, child.iter(M + "oMath")))
    return "".join(pieces).replace("\x0b", "\n")


def _bullet(properties: Element | None, depth: int, styles: list[Element]) -> Element | None:
    """What marks a paragraph: an element for a bullet or a number; None when it has no mark."""
    levels = (style.find(f"{A}lvl{depth + 1}pPr") for style in styles)
    for level in (properties, *levels):
        for child in level if level is not None else ():
            if child.tag in _BULLETS or child.tag == A + "buAutoNum":
                return child
            if child.tag == A + "buNone":
                return None
    return None


def _marker(bullet: Element | None, depth: int, counts: dict[int, int]) -> str:
    """The marker of an item. `counts` are the last numbers of the open levels; a bullet ends the count of its own."""
    if bullet is None:
        return ""
    if bullet.tag in _BULLETS:
        counts.pop(depth, None)
        return "-"
    counts[depth] = counts[depth] + 1 if depth in counts else whole(bullet.get("startAt"), 1, 1)
    style = bullet.get("type", "arabicPeriod")
    number = written(counts[depth], style)
    return f"({number})" if style.endswith("ParenBoth") else f"{number})" if style.endswith("ParenR") else f"{number}."
