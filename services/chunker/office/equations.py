"""Equations as one line of text: fractions with a slash, indices and powers with their usual signs."""

from __future__ import annotations

from services.chunker.office.markup import Element, M

_FORMS = {
    M + "f": "{num}/{den}",
    M + "sSup": "{e}^{sup}",
    M + "sSub": "{e}_{sub}",
    M + "sSubSup": "{e}_{sub}^{sup}",
    M + "rad": "√{e}",
    M + "func": "{fName} {e}",
}
_PARTS = ("num", "den", "e", "sup", "sub", "fName")
_PROPERTIES = "Pr"


def equation(node: Element) -> str:
    """Return the text of an equation or of a part of one."""
    form = _FORMS.get(node.tag)
    if form is not None:
        parts = {name: _operand(node.find(M + name)) for name in _PARTS}
        return form.format_map(parts)
    if node.tag == M + "t":
        return node.text or ""
    inner = "".join(equation(child) for child in node if not _is_properties(child))
    if node.tag == M + "d":
        return f"({inner})"
    if node.tag == M + "nary":
        return (_sign(node) or "∫") + inner
    return inner


def _operand(node: Element | None) -> str:
    """The text of an operand, in brackets where it is more than a number or a name."""
    text = equation(node).strip() if node is not None else ""
    return text if text.isalnum() or (text.startswith("(") and text.endswith(")")) or not text else f"({text})"


def _is_properties(node: Element) -> bool:
    return not isinstance(node.tag, str) or node.tag.endswith(_PROPERTIES)


def _sign(node: Element) -> str:
    sign = node.find(f"{M}naryPr/{M}chr")
    return sign.get(M + "val", "") if sign is not None else ""
