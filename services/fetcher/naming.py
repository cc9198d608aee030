"""Which source a wish means."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from schemas.events import Wish
from schemas.identifiers import default_knowledge_base_id, source_id
from schemas.urls import InvalidUrl, normalize


class SourceName(NamedTuple):
    """The ids that a wish leads to. `url` is normalized, so that one page is one source."""

    organization_id: UUID
    knowledge_base_id: UUID
    source_id: UUID
    url: str | None

    @property
    def key(self) -> tuple[UUID, UUID]:
        """Organization and source, which name the row."""
        return self.organization_id, self.source_id


def name_of(wish: Wish) -> SourceName:
    """Resolve the wish's source: by its id, else the publisher's name, else the URL."""
    base = wish.knowledge_base_id or default_knowledge_base_id(wish.organization_id)
    url = _normalized(wish.url) if wish.url else None
    if wish.source_id is not None:
        return SourceName(wish.organization_id, base, wish.source_id, url)
    reference, kind = (wish.external_id, "external") if wish.external_id else (url or "", "url")
    return SourceName(wish.organization_id, base, source_id(wish.organization_id, base, kind, reference), url)


def _normalized(url: str) -> str:
    try:
        return normalize(url)
    except InvalidUrl:
        # The source is taken all the same, and fails with its code where people look for it.
        return url.replace("\0", "") or "about:blank"
