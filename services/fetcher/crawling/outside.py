"""What a crawl needs of fetching."""

from __future__ import annotations

from typing import Protocol

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.fetcher.http.answers import Fetched, Gone, NotModified


class Pages(Protocol):
    """Gets what lies at an address. Raises SourceRefused and RetryLater."""

    async def fetch(self, url: str) -> Fetched | NotModified:
        """The body as it came."""
        ...


class Robots(Protocol):
    """What sites ask of automatic readers. Raises RetryLater where that is not known now."""

    async def allowed(self, url: str) -> bool:
        """Whether the page may be read."""
        ...

    async def sitemaps(self, url: str) -> list[str]:
        """The sitemaps that the site of the page names."""
        ...


def is_gone(error: SourceRefused) -> bool:
    """Whether the site says that there is no such page, be it by its status or by a page that says so."""
    return isinstance(error, Gone) or error.code == Code.ERROR_PAGE
