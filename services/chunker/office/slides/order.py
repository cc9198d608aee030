"""The order in which the shapes of a slide are read: the title, then in bands from top to bottom, left to right."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from services.chunker.office.markup import MC, Element, P, chosen_branch, truth
from services.chunker.office.slides.placeholders import Place, Template, is_title

# Shapes whose tops are less than a fifth of an inch apart stand in one band.
_SLACK = 182_880


class _Placed(NamedTuple):
    shape: Element
    place: Place | None


def in_order(tree: Element, template: Template) -> list[Element]:
    """Return the shapes under `tree`, a slide's or a group's, as they are read; those without a place come last."""
    shapes = [shape for shape in _shapes(tree) if not _is_hidden(shape)]
    titles = [shape for shape in shapes if is_title(shape)]
    placed = [_Placed(shape, template.place(shape)) for shape in shapes if not is_title(shape)]
    loose = [entry.shape for entry in placed if entry.place is None]
    bands = _bands([entry for entry in placed if entry.place is not None])
    return [*titles, *(entry.shape for band in bands for entry in sorted(band, key=_left)), *loose]


def _shapes(tree: Element) -> Iterable[Element]:
    for child in tree:
        if child.tag == MC + "AlternateContent":
            branch = chosen_branch(child)
            yield from branch if branch is not None else ()
        else:
            yield child


def _is_hidden(shape: Element) -> bool:
    return any(truth(properties.get("hidden")) for properties in shape.iterfind(f"*/{P}cNvPr"))


def _bands(placed: list[_Placed]) -> list[list[_Placed]]:
    bands: list[list[_Placed]] = []
    edge = 0
    for entry in sorted(placed, key=_top):
        if bands and _top(entry) <= edge:
            bands[-1].append(entry)
        else:
            bands.append([entry])
            edge = _top(entry) + _SLACK
    return bands


def _top(entry: _Placed) -> int:
    return entry.place.top if entry.place is not None else 0


def _left(entry: _Placed) -> int:
    return entry.place.left if entry.place is not None else 0
