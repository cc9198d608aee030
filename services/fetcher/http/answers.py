"""What a fetch gives back, and what the headers of an answer say."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import httpx

from schemas.codes import Code
from services.chassis.errors import RetryLater, SourceRefused

LONGEST_VALIDATOR = 1_024
# What a host asks for beyond a day is not a wait but a refusal; the schedule of refreshes decides then.
LONGEST_WAIT = 86_400.0

_PRINTABLE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_TOKEN = re.compile(r"[A-Za-z0-9!#$&^_.+:-]{1,100}")
_GONE = {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}
_PASSING = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}


class Gone(SourceRefused):
    """The host says that there is no such page."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page that came.

    url_final: normalized. media_type and charset: lower case, as the host claims them. sha256: of the body, in
    hexadecimal. etag, last_modified: to be sent back with the next fetch, together with url_final. redirects: the URLs
    that led on, in their order.
    """

    url_final: str
    status: int
    media_type: str | None
    charset: str | None
    body: bytes
    sha256: str
    etag: str | None
    last_modified: str | None
    redirects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NotModified:
    """The page is still what it was. The validators are the new ones, or else those that were sent."""

    url_final: str
    etag: str | None
    last_modified: str | None
    redirects: tuple[str, ...]


def fetched(url_final: str, response: httpx.Response, body: bytes, redirects: tuple[str, ...]) -> Fetched:
    """The page in an answer with its decoded body."""
    media_type, charset = content_type(response.headers.get("content-type", ""))
    return Fetched(
        url_final=url_final,
        status=response.status_code,
        media_type=media_type,
        charset=charset,
        body=body,
        sha256=hashlib.sha256(body).hexdigest(),
        etag=validator(response.headers.get("etag")),
        last_modified=validator(response.headers.get("last-modified")),
        redirects=redirects,
    )


def content_type(header: str) -> tuple[str | None, str | None]:
    """Media type and charset in a Content-Type header, each None when it is missing or malformed."""
    first, *parameters = header.split(";")
    kind, _, subtype = first.strip().partition("/")
    media_type = f"{kind}/{subtype}".lower() if _TOKEN.fullmatch(kind) and _TOKEN.fullmatch(subtype) else None
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        charset = value.strip().strip("\"'")
        if name.strip().lower() == "charset" and _TOKEN.fullmatch(charset):
            return media_type, charset.lower()
    return media_type, None


def validator(value: str | None) -> str | None:
    """An ETag or Last-Modified value if it can be stored and sent back as it is, else None."""
    if value is None or len(value) > LONGEST_VALIDATOR or not _PRINTABLE.fullmatch(value):
        return None
    return value


def failure(url: str, response: httpx.Response) -> SourceRefused | RetryLater:
    """The error that an answer without a page stands for."""
    status = response.status_code
    reason = f"{described(status)} from {url}"
    if status in _GONE:
        return Gone(Code.HTTP_STATUS, reason)
    if status not in _PASSING and status < 500 and status != HTTPStatus.NOT_MODIFIED:
        return SourceRefused(Code.HTTP_STATUS, reason)
    code = Code.RATE_LIMITED if status == HTTPStatus.TOO_MANY_REQUESTS else Code.HTTP_STATUS
    return RetryLater(code, reason, after=retry_after(response.headers.get("retry-after", "")))


def described(status: int) -> str:
    """The status with its standard phrase, as in `404 Not Found`."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def retry_after(header: str) -> float | None:
    """The seconds that a Retry-After header asks to wait, at most a day. None when it says nothing."""
    text = header.strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:9]), LONGEST_WAIT) if len(text) <= 9 else LONGEST_WAIT
    try:
        when = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return min(max((when - datetime.now(UTC)).total_seconds(), 0.0), LONGEST_WAIT)
