"""The catalogue of error codes. A code is stable: it never changes its meaning and is never used again for another."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Advice(NamedTuple):
    """What a code means, and what the reader of it can do."""

    meaning: str
    remedy: str


class Code(StrEnum):
    """Every code that an event, an answer or the command line can carry."""

    # The document
    UNSUPPORTED_TYPE = "UNSUPPORTED_TYPE"
    NO_TEXT = "NO_TEXT"
    EMPTY = "EMPTY"
    BROKEN = "BROKEN"
    ENCRYPTED = "ENCRYPTED"
    TOO_DEEP = "TOO_DEEP"
    SOURCE_TOO_LARGE = "SOURCE_TOO_LARGE"
    PARSE_TIMEOUT = "PARSE_TIMEOUT"
    PARSE_MEMORY = "PARSE_MEMORY"
    # Fetching
    URL_INVALID = "URL_INVALID"
    URL_REFUSED = "URL_REFUSED"
    HOST_NOT_FOUND = "HOST_NOT_FOUND"
    FETCH_FAILED = "FETCH_FAILED"
    FETCH_TIMEOUT = "FETCH_TIMEOUT"
    HTTP_STATUS = "HTTP_STATUS"
    RATE_LIMITED = "RATE_LIMITED"
    TOO_MANY_REDIRECTS = "TOO_MANY_REDIRECTS"
    ROBOTS_DENIED = "ROBOTS_DENIED"
    LOGIN_REQUIRED = "LOGIN_REQUIRED"
    ERROR_PAGE = "ERROR_PAGE"
    BODY_MISSING = "BODY_MISSING"
    # Embedding
    PROVIDER_DOWN = "PROVIDER_DOWN"
    PROVIDER_REFUSED = "PROVIDER_REFUSED"
    WRONG_DIMENSIONS = "WRONG_DIMENSIONS"
    BAD_VECTOR = "BAD_VECTOR"
    INPUT_TOO_LONG = "INPUT_TOO_LONG"
    MODEL_UNAVAILABLE = "MODEL_UNAVAILABLE"
    # Delivery
    EVENT_UNREADABLE = "EVENT_UNREADABLE"
    EVENT_UNKNOWN = "EVENT_UNKNOWN"
    EVENT_INVALID = "EVENT_INVALID"
    EVENT_TOO_LARGE = "EVENT_TOO_LARGE"
    HANDLER_FAILED = "HANDLER_FAILED"
    LEASE_LOST = "LEASE_LOST"
    # Dependencies
    POSTGRES_DOWN = "POSTGRES_DOWN"
    BROKER_DOWN = "BROKER_DOWN"
    BLOB_STORE_DOWN = "BLOB_STORE_DOWN"
    # Limits of an organization
    QUOTA_SOURCES = "QUOTA_SOURCES"
    QUOTA_CHUNKS = "QUOTA_CHUNKS"
    QUOTA_TOKENS = "QUOTA_TOKENS"
    QUOTA_PROMOTIONS = "QUOTA_PROMOTIONS"
    # Requests
    QUERY_INVALID = "QUERY_INVALID"
    REQUEST_INVALID = "REQUEST_INVALID"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    FORBIDDEN = "FORBIDDEN"
    NOT_FOUND = "NOT_FOUND"
    CONFLICT = "CONFLICT"
    SEARCH_UNAVAILABLE = "SEARCH_UNAVAILABLE"
    INTERNAL = "INTERNAL"
    # Warnings of `kb check` and of degraded answers
    W001 = "W001"
    W002 = "W002"


CATALOGUE: dict[Code, Advice] = {
    Code.UNSUPPORTED_TYPE: Advice("The content is of a type that is not parsed.", "Convert it to a supported type."),
    Code.NO_TEXT: Advice(
        "The document holds no text, as a scan or a page drawn by scripts.", "Add a version that holds text."
    ),
    Code.EMPTY: Advice("The document has no content.", "Check the file or the page."),
    Code.BROKEN: Advice("The file is damaged or is not what it says it is.", "Export it again."),
    Code.ENCRYPTED: Advice("The file needs a password.", "Remove the password."),
    Code.TOO_DEEP: Advice("The document is nested too deeply.", "Flatten it."),
    Code.SOURCE_TOO_LARGE: Advice("The document is above the limit of bytes or tokens.", "Split it."),
    Code.PARSE_TIMEOUT: Advice("Parsing took longer than the limit.", "Simplify or split the document."),
    Code.PARSE_MEMORY: Advice("Parsing took more memory than the limit.", "Simplify or split the document."),
    Code.URL_INVALID: Advice("The address is not an http or https URL.", "Correct the URL."),
    Code.URL_REFUSED: Advice(
        "The address leads to a place that is not public.", "Use a public URL, or upload the document."
    ),
    Code.HOST_NOT_FOUND: Advice("The host name has no address.", "Check the URL."),
    Code.FETCH_FAILED: Advice("The host could not be reached or broke off.", "Nothing: it is tried again."),
    Code.FETCH_TIMEOUT: Advice("The host took longer than the limit.", "Nothing: it is tried again."),
    Code.HTTP_STATUS: Advice("The host answered with an error status.", "Check that the page is there and public."),
    Code.RATE_LIMITED: Advice("The host asked to be called less often.", "Nothing: it is tried again."),
    Code.TOO_MANY_REDIRECTS: Advice("The address redirects in a circle or too often.", "Use the final URL."),
    Code.ROBOTS_DENIED: Advice(
        "The site's robots.txt keeps automatic readers away from the page.", "Upload the page, or ask the site's owner."
    ),
    Code.LOGIN_REQUIRED: Advice(
        "The site shows a login form in place of the page.", "Use a page that is public, or upload the document."
    ),
    Code.ERROR_PAGE: Advice(
        "The site answers as if all were well, with a page that says it has none.", "Check the URL in a browser."
    ),
    Code.BODY_MISSING: Advice("The stored body of the source is gone.", "Add the source again."),
    Code.PROVIDER_DOWN: Advice("The model provider does not answer.", "Nothing: the stage waits for it."),
    Code.PROVIDER_REFUSED: Advice("The model provider refused the request.", "Check model name, key and limits."),
    Code.WRONG_DIMENSIONS: Advice(
        "The provider's vectors are not of the length that the space has.", "Correct the model's settings."
    ),
    Code.BAD_VECTOR: Advice("The provider gave a vector of zeros or of no numbers.", "Report it to the provider."),
    Code.INPUT_TOO_LONG: Advice("One chunk is longer than the model takes.", "Choose smaller chunks."),
    Code.MODEL_UNAVAILABLE: Advice(
        "The model is not installed or not known.", "Install the extra, or correct the name."
    ),
    Code.EVENT_UNREADABLE: Advice("A header or the body of the message can't be decoded.", "Correct the producer."),
    Code.EVENT_UNKNOWN: Advice("The event type or version is not known here.", "Upgrade the consumer, then replay."),
    Code.EVENT_INVALID: Advice("The event does not follow its schema.", "Correct the producer."),
    Code.EVENT_TOO_LARGE: Advice("The event is above the size limit.", "Pass the body by reference."),
    Code.HANDLER_FAILED: Advice("Processing the message raised an unexpected error.", "Fix the cause, then replay."),
    Code.LEASE_LOST: Advice("The work did not come back in time, several times.", "Look at the stage's log and lag."),
    Code.POSTGRES_DOWN: Advice("Postgres does not answer.", "Nothing: work goes on when it is back."),
    Code.BROKER_DOWN: Advice("The broker does not answer.", "Nothing: work goes on when it is back."),
    Code.BLOB_STORE_DOWN: Advice("The blob store does not answer.", "Nothing: work goes on when it is back."),
    Code.QUOTA_SOURCES: Advice("The organization has as many sources as it may.", "Delete some, or raise the limit."),
    Code.QUOTA_CHUNKS: Advice("The organization has as many chunks as it may.", "Delete some, or raise the limit."),
    Code.QUOTA_TOKENS: Advice("Today's embedding tokens are used up.", "Wait for tomorrow, or raise the limit."),
    Code.QUOTA_PROMOTIONS: Advice("Today's promotions are used up.", "Wait for tomorrow, or raise the limit."),
    Code.QUERY_INVALID: Advice("The query is shorter or longer than allowed.", "Send 3 to 500 characters."),
    Code.REQUEST_INVALID: Advice("The request does not follow the API.", "See the field that the answer names."),
    Code.UNAUTHENTICATED: Advice("No valid key or token came with the request.", "Send a valid one."),
    Code.FORBIDDEN: Advice("The caller's role does not allow this.", "Ask an administrator."),
    Code.NOT_FOUND: Advice("There is no such thing for this caller.", "Check the id."),
    Code.CONFLICT: Advice("The request contradicts the present state.", "Read the state, then try again."),
    Code.SEARCH_UNAVAILABLE: Advice("Search can't answer now.", "Try again later."),
    Code.INTERNAL: Advice("Something unexpected went wrong.", "Report it with the time and the request id."),
    Code.W001: Advice("No embedding model is set up: only keywords are searched.", "Set a model."),
    Code.W002: Advice("Postgres lacks the extension pgvector: search is off.", "Install pgvector."),
}
