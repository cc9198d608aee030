"""Diagrams (SmartArt) as nested lists of their texts."""

from __future__ import annotations

from services.chunker.blocks import Kind
from services.chunker.office.content import Item, Paragraph
from services.chunker.office.markup import DGM, A, Element, texts, whole


def diagram_items(root: Element) -> list[Item]:
    """Return the texts in the data part of a diagram in their order, each at the depth at which it hangs."""
    points = {point.get("modelId", ""): point for point in root.iter(DGM + "pt")}
    children: dict[str, list[tuple[int, str]]] = {}
    for connection in root.iter(DGM + "cxn"):
        if connection.get("type", "parOf") == "parOf":
            entry = whole(connection.get("srcOrd")), connection.get("destId", "")
            children.setdefault(connection.get("srcId", ""), []).append(entry)
    tops = [name for name, point in points.items() if point.get("type") == "doc"]
    # Points that hang on nothing are read as well, in the order in which they are stored.
    stack = [(name, -1) for name in reversed([*tops, *points])]
    items: list[Item] = []
    while stack:
        name, depth = stack.pop()
        point = points.pop(name, None)
        if point is None:
            continue
        text = "\n".join(texts(paragraph, (A + "t",)) for paragraph in point.iter(A + "p")).strip()
        if text:
            items.append(Paragraph(text, Kind.LIST, marker="-", depth=max(depth, 0)))
        below = sorted(children.get(name, ()), reverse=True)
        stack.extend((child, depth + 1) for _, child in below)
    return items
