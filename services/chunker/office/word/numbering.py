"""Automatic numbers of a Word document: counts the items of each list and writes their markers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from services.chunker.office.markup import Element, W, switched_on, whole
from services.chunker.office.numbers import written

_LEVELS = 9
_PLACE = re.compile(r"%([1-9])")
BULLET = "-"


@dataclass(frozen=True, slots=True)
class Level:
    """How one level of a list is numbered. `text` has %1 to %9 for the numbers of the levels."""

    style: str = "decimal"
    text: str = ""
    start: int = 1
    digits: bool = False


class Numbering:
    """The lists of a document, and where each of them has got to. Lists of one definition count on together."""

    def __init__(self, root: Element | None) -> None:
        self._levels: dict[str, dict[int, Level]] = {}
        self._definition: dict[str, str] = {}
        self._overrides: dict[str, dict[int, Level]] = {}
        self._restarts: dict[str, dict[int, int]] = {}
        self._counts: dict[str, list[int | None]] = {}
        if root is not None:
            self._read(root)

    def _read(self, root: Element) -> None:
        styled: dict[str, str] = {}
        links: dict[str, str] = {}
        for element in root.iterfind(W + "abstractNum"):
            identifier = element.get(W + "abstractNumId", "")
            self._levels[identifier] = _levels(element)
            styled[_value(element, "styleLink")] = identifier
            links[identifier] = _value(element, "numStyleLink")
        for identifier, style in links.items():
            if style and not self._levels[identifier]:
                self._levels[identifier] = self._levels.get(styled.get(style, ""), {})
        for element in root.iterfind(W + "num"):
            number = element.get(W + "numId", "")
            self._definition[number] = _value(element, "abstractNumId")
            changes = element.findall(W + "lvlOverride")
            self._overrides[number] = {at: level for change in changes for at, level in _levels(change).items()}
            self._restarts[number] = {
                whole(change.get(W + "ilvl")): whole(start.get(W + "val"), 1)
                for change in changes
                if (start := change.find(W + "startOverride")) is not None
            }

    def marker(self, number: str, level: int) -> str:
        """Count one item of a list, and return its marker; "" for text that is in no list or shows none."""
        definition = self._definition.get(number)
        if definition is None or not 0 <= level < _LEVELS:
            return ""
        levels = self._levels.get(definition, {}) | self._overrides[number]
        counts = self._counts.setdefault(definition, [None] * _LEVELS)
        for at, start in self._restarts.pop(number, {}).items():
            if at < _LEVELS:
                counts[at] = start - 1
        own = levels.get(level, Level())
        before = counts[level]
        counts[level] = own.start if before is None else before + 1
        counts[level + 1 :] = [None] * (_LEVELS - level - 1)
        if own.style == "bullet":
            return BULLET
        return _PLACE.sub(lambda found: _place(int(found[1]) - 1, counts, levels, own), own.text).strip()


def _place(at: int, counts: list[int | None], levels: dict[int, Level], own: Level) -> str:
    level = levels.get(at, Level())
    count = counts[at]
    number = level.start if count is None else count
    return "" if level.style == "none" else written(number, "decimal" if own.digits else level.style)


def _levels(parent: Element) -> dict[int, Level]:
    return {
        whole(element.get(W + "ilvl")): Level(
            style=_value(element, "numFmt") or "decimal",
            text=_value(element, "lvlText"),
            start=whole(_value(element, "start"), 1),
            digits=switched_on(element.find(W + "isLgl"), W + "val"),
        )
        for element in parent.iterfind(W + "lvl")
    }


def _value(parent: Element, name: str) -> str:
    element = parent.find(W + name)
    return element.get(W + "val", "") if element is not None else ""
