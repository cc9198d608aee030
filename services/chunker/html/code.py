"""Code blocks: line breaks and indentation kept."""

from __future__ import annotations

import re
from typing import Final

from selectolax.lexbor import LexborNode

_LANGUAGE = re.compile(r"(?:^|\s)(?:highlight-source-|highlight-|language-|lang-|brush:\s*)([A-Za-z0-9+#_.-]+)")
_NO_LANGUAGE = frozenset(("default", "text", "none", "notranslate", "plaintext", "plain"))
_LINES: Final = "br,div,li,tr,.token-line"
_LINE_TAGS = frozenset(("div", "li", "tr", "p"))
# Boxes with an element for each line of code and no `pre` around it.
_BOXES: Final = re.compile(r"(?:^|\s)(?:fragment|syntaxhighlighter)(?:\s|$)")


def is_code_box(node: LexborNode, tag: str, classes: str | None) -> bool:
    """Whether an element that is no `pre` holds lines of code."""
    return tag == "div" and bool(classes and _BOXES.search(classes)) and node.css_first("div.line") is not None


def code_text(pre: LexborNode) -> str:
    """The text of a `pre`. A `br` ends a line; so does an element for each line where the text has no line ends."""
    if pre.css_first(_LINES) is None:
        return _plain(pre.text(deep=True) or "")
    pieces: list[str] = []
    stack: list[LexborNode | str | None] = [pre.child]
    while stack:
        current = stack.pop()
        if current is None:
            continue
        if isinstance(current, str):
            _end_line(pieces)
            continue
        stack.append(current.next)
        tag = current.tag
        if tag == "-text":
            pieces.append(current.text_content or "")
        elif tag == "br":
            pieces.append("\n")
        elif tag is not None and tag[0] not in "-_!":
            if tag in _LINE_TAGS:
                stack.append("line")
            stack.append(current.child)
    return _plain("".join(pieces))


def _plain(code: str) -> str:
    return code.replace("\xa0", " ").strip("\n").rstrip()


def _end_line(pieces: list[str]) -> None:
    if pieces and not pieces[-1].endswith("\n"):
        pieces.append("\n")


def language(pre: LexborNode) -> str:
    """The language that a class of the block, its `code` or its wrappers names; "" when there is none."""
    node: LexborNode | None = pre.css_first("code[class]") or pre
    for _ in range(4):
        if node is None or node.tag == "body":
            break
        found = _LANGUAGE.search(node.attrs.get("class") or "")
        if found:
            name = found[1].lower()
            return "" if name in _NO_LANGUAGE else name
        node = node.parent
    return ""


def fenced(text: str, name: str) -> str:
    """Put `text` between fences that it does not itself contain."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{name}\n{text}\n{fence}"
