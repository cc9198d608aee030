"""The package of an office document: parts, and the relations by which a part of Office names another."""

from __future__ import annotations

import posixpath
from typing import NamedTuple
from urllib.parse import unquote

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.chunker.office.archive import Archive
from services.chunker.office.markup import DC, RELATIONS, Element, parse_xml

# What programs put in for a title when nobody gave one.
_NO_TITLES = frozenset(("powerpoint presentation", "word document", "untitled", "document", "presentation"))


class Relation(NamedTuple):
    """What a part says of another: the last word of the relation's type, and the name of the part."""

    kind: str
    target: str


class Package:
    """Reads parts as XML. A part that a document can do without is left out with a warning when it can't be read."""

    def __init__(self, body: bytes) -> None:
        self._archive = Archive(body)
        self._relations: dict[str, dict[str, Relation]] = {}
        self.warnings: list[str] = []

    def __contains__(self, name: str) -> bool:
        return name in self._archive

    def main(self, fallback: str) -> str:
        """The name of the main part."""
        return self.related("", "officeDocument") or fallback

    def part(self, name: str) -> Element:
        """The root of a part. Raises SourceRefused."""
        return parse_xml(self._archive.read(name), name)

    def optional(self, name: str | None) -> Element | None:
        """The root of a part; None where there is none, or it is damaged, which leaves a warning."""
        if name is None:
            return None
        try:
            return self.part(name)
        except SourceRefused as refused:
            if refused.code is not Code.BROKEN:
                raise
            self.warnings.append(refused.reason)
            return None

    def relations(self, name: str) -> dict[str, Relation]:
        """The relations of a part to others in the package, by id; "" is the package itself."""
        if name not in self._relations:
            self._relations[name] = self._read_relations(name)
        return self._relations[name]

    def _read_relations(self, name: str) -> dict[str, Relation]:
        folder, base = posixpath.split(name)
        listing = posixpath.join(folder, "_rels", base + ".rels")
        root = self.optional(listing) if listing in self else None
        found: dict[str, Relation] = {}
        for entry in root.iter(RELATIONS + "Relationship") if root is not None else ():
            if entry.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, unquote(entry.get("Target", ""))))
                found[entry.get("Id", "")] = Relation(entry.get("Type", "").rsplit("/", 1)[-1], target.lstrip("/"))
        return found

    def related(self, name: str, kind: str) -> str | None:
        """The name of the first part to which a part has a relation of a kind."""
        return next((found.target for found in self.relations(name).values() if found.kind == kind), None)

    def title(self) -> str | None:
        """The title in the properties of the document, unless it is one that programs put in."""
        name = self.related("", "core-properties") or "docProps/core.xml"
        root = self.optional(name) if name in self else None
        title = root.findtext(DC + "title") if root is not None else None
        if not title or title.strip().lower() in _NO_TITLES:
            return None
        return str(title).strip().removeprefix("Microsoft Word - ").removeprefix("Microsoft PowerPoint - ")
