"""Pages that have nothing to say but where the content is, by a refresh in a meta element."""

from __future__ import annotations

import re

from schemas import urls
from services.fetcher.http.answers import Fetched
from services.fetcher.reading.look import look

LONGEST_DELAY = 5.0
LONGEST_TEXT = 300
_REFRESH = re.compile(rb"http-equiv\s*=\s*[\"']?\s*refresh", re.IGNORECASE)
_CONTENT = re.compile(
    r"\s*(\d{1,9}(?:\.\d*)?|\.\d+)?\s*[;,\s]\s*(?:url\s*=\s*)?([\"']?)(.+)", re.IGNORECASE | re.DOTALL
)


def refreshed_to(page: Fetched) -> str | None:
    """The normal URL that the page leads to within five seconds, None where it stays or has content of its own."""
    if not _REFRESH.search(page.body[:65_536]):
        return None
    seen = look(page)
    if seen is None or not seen.whole or len(seen.text) > LONGEST_TEXT:
        return None
    found = _CONTENT.fullmatch(seen.refresh or "")
    if found is None or float(found[1] or 0) > LONGEST_DELAY:
        return None
    reference = found[3].partition(found[2])[0] if found[2] else found[3]
    try:
        target = urls.resolve(_base(seen.base, page.url_final), reference)
    except urls.InvalidUrl:
        return None
    return None if urls.normalize(target) == page.url_final else target


def _base(base: str | None, url: str) -> str:
    return url if base is None else urls.resolve(url, base)
