"""The query service: hybrid search and the management API."""

from __future__ import annotations

import ipaddress

import structlog

from services.chassis.postgres import Postgres
from services.chassis.process import Process, run
from services.chassis.settings import PostgresSettings, RetentionSettings, ServerSettings
from services.encoder.errors import EncoderRefused
from services.encoder.opening import open_encoder
from services.encoder.settings import EncoderSettings
from services.query.additions import Additions
from services.query.api.application import make_app
from services.query.api.parts import Parts
from services.query.keys import Keys
from services.query.library import Library
from services.query.neighbours import Neighbours
from services.query.query_log.reading import LoggedQueries
from services.query.query_log.writing import QueryLog
from services.query.query_vectors import NoVector, QueryVectors
from services.query.search import Search
from services.query.settings import AccessSettings, QueryLogSettings, RequestSettings, SearchSettings
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
        neighbours=Neighbours(process.postgres, access.public_organization),
        query_log=_query_log(process, access),
        logged_queries=LoggedQueries(process.postgres),
        library=Library(process.postgres, access.public_organization),
        keys=Keys(process.postgres, access.key_seconds),
        wishes=Wishes(process.publisher, process.postgres, requests),
        additions=Additions(process.blobs),
    )
    process.app = make_app(parts, process.health, requests.largest)
    process.closing.append(vectors.aclose)
    return process


def _query_log(process: Process, access: AccessSettings) -> QueryLog:
    """With a connection of its own, so that a log that hangs takes none of those that answers are read with."""
    postgres = Postgres(PostgresSettings().model_copy(update={"pool": 1}))
    is_on = RetentionSettings().query_log_retention_days > 0
    query_log = QueryLog(postgres, QueryLogSettings(), access.public_organization, is_on=is_on)
    process.opening.append(postgres.open)
    process.background.append(query_log.run)
    process.closing += [query_log.drain, postgres.close]
    return query_log


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
