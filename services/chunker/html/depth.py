"""How deeply markup is nested, found before a tree is built of it."""

from __future__ import annotations

import re

from schemas.codes import Code
from services.chassis.errors import SourceRefused

# Building the tree takes time that grows with the square of the depth: 0.5 s at 20,000, 14 s at 100,000.
DEEPEST = 5000
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)[^<>]*?(/?)>")
# Their end tags are left out in honest documents, or they have none.
_UNCOUNTED_NAMES = (
    "p li dt dd td th tr tbody thead tfoot option br hr img input meta link source track wbr col area base embed param"
    " colgroup font"
)
_UNCOUNTED = frozenset(_UNCOUNTED_NAMES.split())


def refuse_deep(html: str) -> None:
    """Raise SourceRefused(TOO_DEEP) when elements are nested more than DEEPEST levels."""
    if html.count("<") < 2 * DEEPEST:
        return
    depth = 0
    for closing, name, empty in _TAG.findall(html):
        if empty or name.lower() in _UNCOUNTED:
            continue
        if closing:
            depth = max(0, depth - 1)
            continue
        depth += 1
        if depth > DEEPEST:
            raise SourceRefused(Code.TOO_DEEP, f"elements are nested more than {DEEPEST} levels")
