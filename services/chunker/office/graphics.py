"""Charts and diagrams that a part of a package shows."""

from __future__ import annotations

from collections.abc import Iterable

from services.chunker.office.charts import chart_items
from services.chunker.office.content import Item
from services.chunker.office.diagrams import diagram_items
from services.chunker.office.package import Package


class Graphics:
    """The charts and diagrams of one part, named by the ids of its relations. What is missing leaves a warning."""

    def __init__(self, package: Package, part: str) -> None:
        self._package = package
        self._part = part

    def items(self, charts: Iterable[str], diagrams: Iterable[str]) -> list[Item]:
        """Return the texts of charts, as tables, and of diagrams, as lists."""
        found: list[Item] = []
        for identifiers, read in ((charts, chart_items), (diagrams, diagram_items)):
            for identifier in identifiers:
                relation = self._package.relations(self._part).get(identifier)
                root = self._package.optional(relation.target) if relation is not None else None
                if root is not None:
                    found.extend(read(root))
        return found
