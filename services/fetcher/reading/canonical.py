"""The form of its URL that a page itself names."""

from __future__ import annotations

import re

from schemas import urls
from services.fetcher.reading.look import Look

_INDEX = re.compile(r"/(?:index|default)\.[a-z]{3,5}$", re.IGNORECASE)
_SUFFIX = re.compile(r"\.(?:html?|xhtml|php|aspx?|jsp)$", re.IGNORECASE)
# Parameters that choose what is shown. Pages whose canonical link leaves one out name another page, or all the same.
_CHOOSING = re.compile(
    r"(?:.*[_-])?(?:id|p|page|pg|start|offset|article|post|doc|document|node|topic|t|title|name|slug|q|query|search|section"
    r"|chapter|lang|language|hl|locale|v|version|view|item|product|sku|date|year|month|action|oldid|file|path)",
    re.IGNORECASE,
)


def canonical_url(look: Look) -> str:
    """The canonical form where the page names a plausible one, else the URL that it came from.

    Plausible is another spelling of the same page: https for http, a slash or a suffix more or less, parameters less.
    Not another path: a link from one version of documentation to the newest leads to other text.
    """
    if len(set(look.canonicals)) != 1:
        return look.url
    try:
        named = urls.normalize(urls.resolve(look.base or look.url, look.canonicals[0]))
    except urls.InvalidUrl:
        return look.url
    return named if _same_page(urls.parse(look.url), urls.parse(named)) else look.url


def _same_page(came: urls.Address, named: urls.Address) -> bool:
    if (came.host, came.port) != (named.host, named.port) or (came.scheme, named.scheme) == ("https", "http"):
        return False
    left = set(filter(None, named.query.split("&")))
    had = set(filter(None, came.query.split("&")))
    dropped = (pair.partition("=")[0] for pair in had - left)
    return (
        _stem(came.path) == _stem(named.path) and left <= had and not any(_CHOOSING.fullmatch(name) for name in dropped)
    )


def _stem(path: str) -> str:
    return _SUFFIX.sub("", _INDEX.sub("/", path)).rstrip("/").lower()
