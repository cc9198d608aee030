"""Addresses of web pages, in one form, so that one page is one source and every part of the system reads it alike."""

from __future__ import annotations

import ipaddress
import re
from typing import NamedTuple
from urllib.parse import unquote, urljoin

import idna

LONGEST_URL = 2_048
DEFAULT_PORTS = {"http": 80, "https": 443}

# Parameters that say where a visitor came from. They never choose what a page shows.
TRACKING_PREFIXES = ("utm_", "mtm_", "pk_campaign", "pk_kwd", "_hs")
_OF_GOOGLE = ("_ga", "_gl", "gad_source", "gbraid", "gclid", "gclsrc", "dclid", "srsltid", "wbraid")
_OF_NETWORKS = ("epik", "fbclid", "igshid", "li_fat_id", "msclkid", "ttclid", "twclid", "yclid")
_OF_MAILINGS = ("mc_cid", "mc_eid", "mkt_tok", "oly_anon_id", "oly_enc_id", "vero_id", "wickedid")
TRACKING_NAMES = frozenset((*_OF_GOOGLE, *_OF_NETWORKS, *_OF_MAILINGS))

_ABSOLUTE = re.compile(r"([a-z][a-z0-9+.-]*)://([^/\\?#]*)([^?#]*)(?:\?([^#]*))?(?:#.*)?", re.DOTALL | re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_LABEL = re.compile(r"[a-z0-9_-]{1,63}")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_UNRESERVED = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
_PATH_ESCAPES = re.compile(rb"%[0-9A-Fa-f]{2}|[^A-Za-z0-9._~!$&'()*+,;=:@/-]")
_QUERY_ESCAPES = re.compile(rb"%[0-9A-Fa-f]{2}|[^A-Za-z0-9._~!$&'()*+,;=:@/?-]")


class InvalidUrl(ValueError):
    """Not the absolute http or https URL of a page. The message says why, and does not repeat the URL."""


class Address(NamedTuple):
    """An http(s) URL in normal form. `host` is ASCII (an IPv6 address in brackets), `port` None where it is default."""

    scheme: str
    host: str
    port: int | None
    path: str
    query: str

    @property
    def authority(self) -> str:
        """Host and port, as a Host header has them."""
        return self.host if self.port is None else f"{self.host}:{self.port}"

    def __str__(self) -> str:
        query = f"?{self.query}" if self.query else ""
        return f"{self.scheme}://{self.authority}{self.path}{query}"


def normalize(url: str) -> str:
    """The URL that identifies the page: normal form, without fragment and tracking parameters. Idempotent.

    Raises InvalidUrl for what is not an absolute http(s) URL with a host and without credentials, or is
    longer than 2,048 characters before or after.
    """
    address = parse(url)
    kept = "&".join(pair for pair in address.query.split("&") if not _is_tracking(pair))
    return str(address._replace(query=kept))


def parse(url: str) -> Address:
    """The parts of an absolute URL in normal form, tracking parameters kept. Raises as `normalize` does."""
    text = url.strip()
    if len(text) > LONGEST_URL:
        raise _invalid(f"is longer than {LONGEST_URL} characters")
    match = _ABSOLUTE.fullmatch(text)
    if match is None or match[1].lower() not in DEFAULT_PORTS:
        raise _invalid("is not an absolute http or https URL")
    if _CONTROL.search(text):
        raise _invalid("holds control characters")
    scheme = match[1].lower()
    host, port = _split_authority(match[2])
    address = Address(
        scheme,
        _host(host),
        None if port == DEFAULT_PORTS[scheme] else port,
        _without_dots(_escaped(match[3].replace("\\", "/"), _PATH_ESCAPES)),
        _escaped(match[4] or "", _QUERY_ESCAPES),
    )
    if len(str(address)) > LONGEST_URL:
        raise _invalid(f"is longer than {LONGEST_URL} characters once it is encoded")
    return address


def resolve(base: str, reference: str) -> str:
    """The absolute URL, tracking parameters kept, that a redirect or a link on the page `base` leads to.

    Raises as `normalize` does.
    """
    if len(reference) > LONGEST_URL:
        raise _invalid(f"leads to a URL longer than {LONGEST_URL} characters")
    try:
        joined = urljoin(base, reference.strip().replace("\\", "/"))
    except ValueError as error:
        raise _invalid("leads to something that is not a URL") from error
    return str(parse(joined))


def _invalid(problem: str) -> InvalidUrl:
    # The URL itself is not repeated: it can hold a password, and the caller knows it.
    return InvalidUrl(f"The URL {problem}.")


def _split_authority(authority: str) -> tuple[str, int | None]:
    if "@" in authority:
        raise _invalid("holds a user name or a password")
    host, colon, port = authority.rpartition(":")
    if not colon or port.endswith("]"):
        return authority, None
    if not port:
        return host, None
    if not (port.isascii() and port.isdigit() and len(port) <= 6 and 0 < int(port) < 65_536):
        raise _invalid("has a port that is no number from 1 to 65535")
    return host, int(port)


def _host(text: str) -> str:
    if text.startswith("[") and text.endswith("]"):
        return _ipv6(text[1:-1])
    name = _ascii_name(text).removesuffix(".")
    labels = name.split(".")
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise _invalid("has no valid host name")
    return _ipv4(labels) if _NUMBER.fullmatch(labels[-1]) else name


def _ascii_name(text: str) -> str:
    try:
        name = unquote(text, errors="strict")
        if name.isascii():
            return name.lower()
        return idna.encode(name, uts46=True, std3_rules=False).decode("ascii").lower()
    except UnicodeError as error:
        raise _invalid("has no valid host name") from error


def _ipv6(text: str) -> str:
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError as error:
        raise _invalid("has no valid IPv6 address") from error
    if address.scope_id is not None:
        raise _invalid("has an IPv6 address with a zone")
    return f"[{address.compressed}]"


def _ipv4(labels: list[str]) -> str:
    """An address in dotted decimals, from 1 to 4 numbers that may be hexadecimal or octal, the last one filling up.

    Resolvers disagree about these forms, so that none of them gets to see one.
    """
    try:
        numbers = [_number(label) for label in labels]
        if len(numbers) > 4 or any(number > 255 for number in numbers[:-1]):
            raise _invalid("has no valid IPv4 address")
        if numbers[-1] >= 256 ** (5 - len(numbers)):
            raise _invalid("has no valid IPv4 address")
    except ValueError as error:
        raise _invalid("has no valid IPv4 address") from error
    high = sum(number << (8 * (3 - place)) for place, number in enumerate(numbers[:-1]))
    return str(ipaddress.IPv4Address(high + numbers[-1]))


def _number(label: str) -> int:
    if label.startswith("0x"):
        return int(label[2:] or "0", 16)
    return int(label, 8 if label.startswith("0") else 10)


def _escaped(text: str, escapes: re.Pattern[bytes]) -> str:
    """The text with upper-case escapes for just what needs one; what a stray % begins is text."""
    try:
        return escapes.sub(_one_escape, text.encode()).decode("ascii")
    except UnicodeEncodeError as error:
        raise _invalid("holds characters that can't be encoded") from error


def _one_escape(match: re.Match[bytes]) -> bytes:
    byte = int(match[0][1:], 16) if len(match[0]) == 3 else match[0][0]
    return bytes([byte]) if byte in _UNRESERVED else b"%%%02X" % byte


def _without_dots(path: str) -> str:
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            kept = kept[:-1]
        elif segment != ".":
            kept.append(segment)
    if segments and segments[-1] in {".", ".."}:
        kept.append("")
    return "/" + "/".join(kept)


def _is_tracking(pair: str) -> bool:
    name = pair.partition("=")[0].lower()
    return name in TRACKING_NAMES or name.startswith(TRACKING_PREFIXES)
