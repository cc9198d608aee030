"""What a page that came tells a crawl."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from services.fetcher.crawling.links import Links
from services.fetcher.crawling.scope import Scope, is_same_page

Seen = Literal["there", "refused", "duplicate", "gone", "unlisted"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What an address turned out to be. links: pages in scope that it leads to. same_as: the page that it is, too."""

    seen: Seen
    links: tuple[str, ...] = ()
    same_as: str | None = None
    body_hash: str | None = None
    is_certain: bool = True
    """False: it says of itself that it is another page, which that page may belie."""


def finding_of(scope: Scope, url: str, final: str, links: Links, body_hash: str) -> Finding:
    """What the address `url`, which led to `final`, is to the site. Where it leads elsewhere it is no page itself."""
    reached = scope.page(final)
    if reached is None:
        return Finding("unlisted", body_hash=body_hash)
    if reached != (scope.page(url) or url):
        return Finding("duplicate", (reached,), reached, body_hash)
    there = Finding("there", tuple(in_scope(scope, links)), body_hash=body_hash)
    if links.noindex:
        return replace(there, seen="unlisted")
    named = scope.link(links.base, links.canonical) if links.canonical else None
    if named and named != reached and is_same_page(named, reached):
        return replace(there, seen="duplicate", links=(*there.links, named), same_as=named, is_certain=False)
    return there


def in_scope(scope: Scope, links: Links) -> list[str]:
    """The pages of the site that a page leads to, each once, in its order."""
    pages = (scope.link(links.base, reference) for reference in links.references)
    return list(dict.fromkeys(page for page in pages if page))
