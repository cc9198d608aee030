"""Sitemaps: what a site itself says its pages are."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Iterator
from io import BytesIO
from typing import NamedTuple

import structlog
from lxml import etree  # type: ignore[import-untyped]

from services.chassis.errors import RetryLater, SourceRefused
from services.fetcher.crawling.outside import Pages, Robots, is_gone
from services.fetcher.crawling.scope import Scope
from services.fetcher.http.answers import NotModified

log = structlog.get_logger()

MOST_SITEMAPS = 50
MOST_PAGES = 10_000
LARGEST = 50 * 2**20
"""Bytes of one sitemap once it is decompressed: what the protocol allows."""
LONGEST_SECONDS = 120.0

_GZIP = b"\x1f\x8b"


class UnreadableSitemap(Exception):
    """It is there, and can't be read whole."""


class Sitemap(NamedTuple):
    """What one sitemap lists: pages, and further sitemaps."""

    pages: list[str]
    sitemaps: list[str]


class Listing(NamedTuple):
    """Pages in scope, in their order, each once; whether they are all that the sitemaps list."""

    pages: list[str]
    is_whole: bool


class Sitemaps:
    """Reads the sitemaps of sites."""

    def __init__(self, pages: Pages, robots: Robots) -> None:
        self._pages = pages
        self._robots = robots

    async def listing(self, scope: Scope) -> Listing:
        """What the sitemaps of the site list, as far as they can be read. Raises RetryLater."""
        named = await self._robots.sitemaps(scope.final)
        found: dict[str, None] = {}
        try:
            async with asyncio.timeout(LONGEST_SECONDS):
                is_whole = await self._follow(scope, named or _usual(scope), found)
        except TimeoutError:
            is_whole = False
        return Listing(list(found)[:MOST_PAGES], is_whole)

    async def _follow(self, scope: Scope, todo: list[str], found: dict[str, None]) -> bool:
        passed: set[str] = set()
        is_whole = True
        while todo and len(passed) < MOST_SITEMAPS and len(found) < MOST_PAGES:
            url = todo.pop(0)
            if url in passed:
                continue
            passed.add(url)
            try:
                listed = await self._read(url)
            except (RetryLater, SourceRefused, UnreadableSitemap) as error:
                log.info("sitemap can't be read", url=url, reason=str(error))
                is_whole = False
                continue
            todo += listed.sitemaps[:MOST_SITEMAPS]
            found |= dict.fromkeys(page for url in listed.pages if (page := scope.page(url)))
        return is_whole

    async def _read(self, url: str) -> Sitemap:
        try:
            answer = await self._pages.fetch(url)
        except SourceRefused as error:
            if is_gone(error):
                return Sitemap([], [])
            raise
        if isinstance(answer, NotModified) or answer.media_type == "text/html":
            return Sitemap([], [])  # a site that has a page for every address
        return await asyncio.to_thread(parse_sitemap, answer.body)


def _usual(scope: Scope) -> list[str]:
    origin = f"{scope.scheme}://{scope.authority}"
    return list(dict.fromkeys((f"{origin}/sitemap.xml", f"{origin}{scope.prefix.rpartition('/')[0]}/sitemap.xml")))


def parse_sitemap(body: bytes) -> Sitemap:
    """What a sitemap lists, be it XML or a text of lines, compressed or not. Raises UnreadableSitemap."""
    data = _decompressed(body) if body.startswith(_GZIP) else body
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        lines = data.decode("utf-8", "replace").split("\n", MOST_PAGES * 5)[: MOST_PAGES * 5]
        return Sitemap([line.strip() for line in lines if line.strip()], [])
    listed = Sitemap([], [])
    try:
        for parent, address in _locations(data):
            if parent == "sitemap":
                listed.sitemaps.append(address)
            elif parent == "url":
                listed.pages.append(address)
    except etree.LxmlError as error:
        raise UnreadableSitemap(str(error)) from error
    return listed


def _locations(data: bytes) -> Iterator[tuple[str, str]]:
    """Each address with the name of the element that it stands in. Entities are not resolved, nothing is loaded."""
    events = etree.iterparse(
        BytesIO(data), events=("end",), resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    for _, element in events:
        if not isinstance(element.tag, str):
            continue
        parent = element.getparent()
        if etree.QName(element).localname == "loc" and parent is not None and element.text:
            yield etree.QName(parent).localname, element.text.strip()
        if parent is not None and etree.QName(element).localname in {"url", "sitemap"}:
            parent.remove(element)


def _decompressed(body: bytes) -> bytes:
    unpack = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    try:
        data = unpack.decompress(body, LARGEST)
    except zlib.error as error:
        raise UnreadableSitemap(str(error)) from error
    if not unpack.eof:
        raise UnreadableSitemap("it is cut off, or too large")
    return data
