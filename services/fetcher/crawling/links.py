"""What a page says about itself and others to those who follow links."""

from __future__ import annotations

import codecs
import contextlib
import re
from dataclasses import dataclass, field

from lxml import etree  # type: ignore[import-untyped]

from schemas.urls import InvalidUrl, resolve

MOST_LINKS = 5_000
HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})

_TARGETS = {"a": "href", "area": "href", "frame": "src"}
_MARKUP = re.compile(rb"\s*(?:<\?xml|<!doctype\s+html|<html|<head|<body|<!--)", re.IGNORECASE)
_BOMS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass
class Links:
    """The references of a page in their order, each once. `base` is what they are relative to."""

    base: str
    references: dict[str, None] = field(default_factory=dict)
    canonical: str | None = None
    noindex: bool = False
    nofollow: bool = False


def is_html(media_type: str | None, body: bytes) -> bool:
    """Whether a body is to be looked through: by its type, or its beginning where the host names none."""
    return media_type in HTML_TYPES if media_type else _MARKUP.match(body[:1024]) is not None


def links_of(body: bytes, charset: str | None, url: str) -> Links:
    """The links of an HTML page that came from `url`, in one pass and of bounded number. Malformed ones are kept."""
    reader = _Reader(url)
    parser = etree.HTMLParser(target=reader, encoding=_encoding(body, charset), huge_tree=True)
    with contextlib.suppress(etree.LxmlError):  # what came before the fault counts
        parser.feed(body)
        parser.close()
    found = reader.links
    if found.nofollow:
        found.references.clear()
    return found


def _encoding(body: bytes, charset: str | None) -> str | None:
    """An encoding that the parser knows, where the host names one; else it looks for itself."""
    if charset is None or body.startswith(_BOMS):
        return None
    try:
        etree.HTMLParser(encoding=charset)
    except LookupError:
        return None
    return charset


class _Reader:
    """Takes what the parser tells, element by element, so that no tree is built."""

    def __init__(self, url: str) -> None:
        self.links = Links(url)
        self._has_base = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag in _TARGETS:
            self._target(attributes, attributes.get(_TARGETS[tag]))
        elif tag == "meta":
            self._meta(attributes)
        elif tag == "link" and "canonical" in _words(attributes.get("rel")):
            self.links.canonical = self.links.canonical or attributes.get("href")
        elif tag == "base" and not self._has_base and "href" in attributes:
            self._has_base = True
            self._base(attributes["href"])

    def close(self) -> None:
        pass

    def _target(self, attributes: dict[str, str], reference: str | None) -> None:
        if reference and "nofollow" not in _words(attributes.get("rel")) and len(self.links.references) < MOST_LINKS:
            self.links.references[reference.partition("#")[0].strip()] = None

    def _meta(self, attributes: dict[str, str]) -> None:
        if (attributes.get("name") or "").strip().lower() != "robots":
            return
        said = _words(attributes.get("content"))
        self.links.noindex |= bool(said & {"noindex", "none"})
        self.links.nofollow |= bool(said & {"nofollow", "none"})

    def _base(self, reference: str) -> None:
        with contextlib.suppress(InvalidUrl):  # one that leads nowhere is none
            self.links.base = resolve(self.links.base, reference)


def _words(text: str | None) -> set[str]:
    return set((text or "").lower().replace(",", " ").split())
