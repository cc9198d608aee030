"""Which source a request means: the same id that intake derives from the same event."""

from __future__ import annotations

from hashlib import sha256
from uuid import UUID

from schemas.codes import Code
from schemas.identifiers import source_id
from schemas.urls import InvalidUrl, normalize
from services.chassis.errors import SourceRefused


def page_id(organization_id: UUID, base: UUID, url: str) -> UUID:
    """The source of a page. Raises SourceRefused(URL_INVALID)."""
    try:
        return source_id(organization_id, base, "url", normalize(url))
    except InvalidUrl as error:
        raise SourceRefused(Code.URL_INVALID, str(error)) from error


def named_id(organization_id: UUID, base: UUID, external_id: str) -> UUID:
    """The source that the publisher calls so."""
    return source_id(organization_id, base, "external", external_id)


def name_by_content(body: bytes) -> str:
    """The external id of a text or file that came without one: the same content is the same source."""
    return f"sha256:{sha256(body).hexdigest()}"
