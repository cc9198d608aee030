"""What the shapes of a slide take over from its layout and its master: positions and bullets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from services.chunker.office.markup import A, Element, P, whole
from services.chunker.office.package import Package

_TITLES = frozenset(("title", "ctrTitle"))
# The placeholders whose text belongs to no slide in particular.
FURNITURE = frozenset(("dt", "sldNum", "hdr"))
FOOTER = "ftr"
# Shapes can begin beside the slide, at negative places.
_FAR_OUT = -(1 << 30)
_MASTER_STYLES = {"title": "titleStyle", "ctrTitle": "titleStyle", None: "otherStyle"}


class Place(NamedTuple):
    """Where a shape begins, in English metric units (914,400 an inch)."""

    left: int
    top: int


def placeholder(shape: Element) -> Element | None:
    """The element that says which placeholder a shape fills; None for a shape of its own."""
    return next(shape.iterfind(f"*/{P}nvPr/{P}ph"), None)


def role(shape: Element) -> str | None:
    """The role of a placeholder ("title", "body", "ftr" …); None for a shape of its own."""
    found = placeholder(shape)
    return None if found is None else str(found.get("type", "obj"))


def is_title(shape: Element) -> bool:
    """Whether a shape is the title of the slide."""
    return role(shape) in _TITLES


class Template:
    """The layout of slides and the master of that layout, either of which may be missing."""

    def __init__(self, package: Package, layout: str | None) -> None:
        master = package.related(layout, "slideMaster") if layout else None
        self._roots = [root for root in map(package.optional, (layout, master)) if root is not None]
        self._master = self._roots[-1] if self._roots and self._roots[-1].tag == P + "sldMaster" else None

    def place(self, shape: Element) -> Place | None:
        """Where a shape stands; None when nothing says so."""
        for candidate in (shape, *self.patterns(shape)):
            found = _own_place(candidate)
            if found is not None:
                return found
        return None

    def patterns(self, shape: Element) -> Iterator[Element]:
        """The placeholders of layout and master that a shape fills."""
        found = placeholder(shape)
        if found is None:
            return
        for root in self._roots:
            match = _matching(root, found.get("idx", "0"), found.get("type", "obj"))
            if match is not None:
                yield match

    def list_styles(self, shape: Element) -> Iterator[Element]:
        """Where to look for the bullets of a shape's paragraphs, the nearest first."""
        for candidate in (shape, *self.patterns(shape)):
            yield from candidate.iterfind(f"{P}txBody/{A}lstStyle")
        if self._master is not None:
            name = _MASTER_STYLES.get(role(shape), "bodyStyle")
            yield from self._master.iterfind(f"{P}txStyles/{P}{name}")


def _matching(root: Element, index: str, kind: str) -> Element | None:
    """The placeholder of the same index in a layout, else of the same role; titles of either kind are one role."""
    family = _family(kind)
    by_role = None
    for shape in root.iterfind(f"{P}cSld/{P}spTree/{P}sp"):
        found = placeholder(shape)
        if found is None:
            continue
        if root.tag == P + "sldLayout" and index != "0" and found.get("idx") == index:
            return shape
        if by_role is None and _family(found.get("type", "obj")) == family:
            by_role = shape
    return by_role


def _family(kind: str) -> str:
    return "title" if kind in _TITLES else "body" if kind in ("obj", "body", "subTitle") else kind


def _own_place(shape: Element) -> Place | None:
    # Frames of tables and charts have their transform beside the properties, all else in them.
    for frame in (*shape.iterfind(f"*/{A}xfrm"), *shape.iterfind(P + "xfrm")):
        offset = frame.find(A + "off")
        if offset is not None:
            return Place(whole(offset.get("x"), low=_FAR_OUT), whole(offset.get("y"), low=_FAR_OUT))
    return None
