"""XML of office documents: parsed without entities, files or network, and the names of its elements."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, TypeAlias

from lxml import etree  # type: ignore[import-untyped]

from schemas.codes import Code
from services.chassis.errors import SourceRefused

# lxml comes without types.
Element: TypeAlias = Any

_OOXML = "http://schemas.openxmlformats.org/"
W: Final = f"{{{_OOXML}wordprocessingml/2006/main}}"
P: Final = f"{{{_OOXML}presentationml/2006/main}}"
A: Final = f"{{{_OOXML}drawingml/2006/main}}"
C: Final = f"{{{_OOXML}drawingml/2006/chart}}"
DGM: Final = f"{{{_OOXML}drawingml/2006/diagram}}"
M: Final = f"{{{_OOXML}officeDocument/2006/math}}"
R: Final = f"{{{_OOXML}officeDocument/2006/relationships}}"
MC: Final = f"{{{_OOXML}markup-compatibility/2006}}"
RELATIONS: Final = f"{{{_OOXML}package/2006/relationships}}"
DC: Final = "{http://purl.org/dc/elements/1.1/}"

# The strict variant of the formats has the same elements in other namespaces.
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
_TRANSITIONAL = rb"http://schemas.openxmlformats.org/\1/2006/"
_LIMIT_CODES = (etree.ErrorTypes.ERR_RESOURCE_LIMIT, etree.ErrorTypes.ERR_ENTITY_LOOP)
_TRUE = frozenset(("1", "true", "on", "t"))


def parse_xml(data: bytes, name: str) -> Element:
    """Return the root element of a part, without comments. `name` is for the reason of a refusal.

    Raises SourceRefused: BROKEN for what is not well formed or declares a document type, which these formats forbid;
    TOO_DEEP; SOURCE_TOO_LARGE where text or entities go beyond the parser's limits.
    """
    if b"//purl.oclc.org/ooxml/" in data:
        data = _STRICT.sub(_TRANSITIONAL, data)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise _refusal(error, name) from error
    if root.getroottree().docinfo.internalDTD is not None:
        raise SourceRefused(Code.BROKEN, f"the part {name} declares a document type or entities")
    return root


def _refusal(error: Any, name: str) -> SourceRefused:
    reason = str(error)
    if "xcessive depth" in reason:
        return SourceRefused(Code.TOO_DEEP, f"the part {name} is nested too deeply")
    if error.code == etree.ErrorTypes.ERR_NO_MEMORY:
        return SourceRefused(Code.PARSE_MEMORY, f"the part {name} takes more memory than there is")
    if error.code in _LIMIT_CODES:
        return SourceRefused(Code.SOURCE_TOO_LARGE, f"the part {name} goes beyond a limit: {reason}")
    return SourceRefused(Code.BROKEN, f"the part {name} is damaged: {reason}")


def switched_on(element: Element | None, attribute: str) -> bool:
    """Whether an element that stands for a property is there and does not say no."""
    return element is not None and element.get(attribute, "1").lower() in _TRUE


def truth(value: str | None) -> bool:
    """The truth of an attribute; a missing one is false."""
    return value is not None and value.lower() in _TRUE


def whole(value: str | None, default: int = 0, low: int = 0, high: int = 1 << 30) -> int:
    """The whole number in an attribute, `default` where it is none, within `low` and `high`."""
    text = (value or "").strip()
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        return default
    return min(max(int(text), low), high)


def chosen_branch(alternate: Element) -> Element | None:
    """The branch of an AlternateContent that is read: the first choice, else the fallback; never both."""
    branch = alternate.find(MC + "Choice")
    return branch if branch is not None else alternate.find(MC + "Fallback")


def texts(element: Element, tags: Iterable[str]) -> str:
    """All text in elements of the given names under `element`."""
    return "".join(node.text or "" for node in element.iter(*tags))
