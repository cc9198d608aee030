"""The query service: hybrid search and the management API."""

from __future__ import annotations

import ipaddress

import structlog

from services.chassis.process import Process, run
from services.chassis.settings import ServerSettings
from services.encoder.errors import EncoderRefused
from services.encoder.opening import open_encoder
from services.encoder.settings import EncoderSettings
from services.query.additions import Additions
from services.query.api.application import make_app
from services.query.api.parts import Parts
from services.query.keys import Keys
from services.query.library import Library
from services.query.query_vectors import NoVector, QueryVectors
from services.query.search import Search
from services.query.settings import AccessSettings, RequestSettings, SearchSettings
from services.query.wishes import Wishes

log = structlog.get_logger()


async def compose() -> Process:
    """Put the process together."""
    access, requests = AccessSettings(), RequestSettings()
    if access.open:
        must_be_loopback(ServerSettings().host)
    process = Process("query")
    vectors = await _open_vectors(SearchSettings())
    parts = Parts(
        access=access,
        search=Search(process.postgres, vectors, access.public_organization),
        library=Library(process.postgres, access.public_organization),
        keys=Keys(process.postgres, access.key_seconds),
        wishes=Wishes(process.publisher, process.postgres, requests),
        additions=Additions(process.blobs),
    )
    process.app = make_app(parts, process.health, requests.largest)
    process.closing.append(vectors.aclose)
    return process


async def _open_vectors(settings: SearchSettings) -> QueryVectors:
    """A model that can't be had leaves the keyword arm, and answers that say so."""
    try:
        return QueryVectors(await open_encoder(EncoderSettings()), settings)
    except EncoderRefused as error:
        log.error("searching by keyword alone", code=error.code, reason=error.reason)
        return QueryVectors(None, settings, NoVector(error.code, error.reason))


def must_be_loopback(host: str) -> None:
    """Raises ValueError for an address that others can reach."""
    try:
        is_loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_loopback = False
    if not is_loopback:
        raise ValueError(f"KB_QUERY_OPEN lets everyone in, so KB_SERVER_HOST must be a loopback address, not {host}")


if __name__ == "__main__":
    run("query", compose)
