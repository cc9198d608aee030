"""Bodies of answers, decompressed with a bound that holds whatever the host sends."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterable

from schemas.codes import Code
from services.chassis.errors import RetryLater, SourceRefused

ACCEPTED_ENCODINGS = "gzip, deflate"
# A gzip body may be several ones in a row; thousands of empty ones would only cost time.
MOST_MEMBERS = 1_000
_GZIP_WINDOW = 16 + zlib.MAX_WBITS


class _Inflater:
    """Decompresses gzip, and deflate with or without its header."""

    def __init__(self, gzip: bool) -> None:
        self._gzip = gzip
        self._member: zlib._Decompress | None = None
        self._members = 0
        self._over = False

    def feed(self, data: bytes, room: int) -> bytes:
        """The next bytes, at most room + 1 of them. What doesn't fit is lost. Raises zlib.error."""
        out = bytearray()
        while data and len(out) <= room and not self._over:
            member = self._next_member(data)
            if member is None:
                break
            out += member.decompress(data, room + 1 - len(out))
            data = member.unused_data if member.eof else member.unconsumed_tail
        return bytes(out)

    def check_complete(self) -> None:
        """Raises zlib.error when the body ended too early."""
        if self._member is not None and not self._member.eof:
            raise zlib.error("the body ends too early")

    def _next_member(self, data: bytes) -> zlib._Decompress | None:
        if self._member is not None and not self._member.eof:
            return self._member
        if self._member is not None and (not self._gzip or data[0] != 0x1F):
            self._over = True  # Bytes behind the end are padding.
            return None
        self._members += 1
        if self._members > MOST_MEMBERS:
            raise zlib.error("the body has too many members")
        self._member = zlib.decompressobj(_GZIP_WINDOW if self._gzip else _deflate_window(data[0]))
        return self._member


def _deflate_window(first: int) -> int:
    # HTTP's deflate has zlib's header, whose low half byte is 8; some servers leave it out.
    return zlib.MAX_WBITS if first & 0x0F == 8 else -zlib.MAX_WBITS


async def read_body(parts: AsyncIterable[bytes], encoding: str, max_bytes: int, *, cut: bool = False) -> bytes:
    """The decoded body. `encoding` is the Content-Encoding header, empty for none.

    Raises SourceRefused(SOURCE_TOO_LARGE) once more than max_bytes have come or would come out, unless it is to be cut
    there, and RetryLater(FETCH_FAILED) for a body that can't be decoded.
    """
    inflater = _inflater_for(encoding)
    body = bytearray()
    received = 0
    try:
        async for part in parts:
            received += len(part)
            body += part if inflater is None else inflater.feed(part, max_bytes - len(body))
            if max(received, len(body)) > max_bytes:
                if cut:
                    return bytes(body[:max_bytes])
                raise too_large(max_bytes)
        if inflater is not None:
            inflater.check_complete()
    except zlib.error as error:
        raise RetryLater(Code.FETCH_FAILED, f"The body is not valid {encoding}: {error}.") from error
    return bytes(body)


def too_large(max_bytes: int) -> SourceRefused:
    """The refusal of a body that has more than max_bytes."""
    return SourceRefused(Code.SOURCE_TOO_LARGE, f"The body is larger than {max_bytes} bytes.")


def _inflater_for(encoding: str) -> _Inflater | None:
    name = encoding.strip().lower()
    if name in {"", "identity"}:
        return None
    if name in {"gzip", "x-gzip", "deflate"}:
        return _Inflater(gzip=name != "deflate")
    raise RetryLater(Code.FETCH_FAILED, "The body is compressed in a way that was not asked for.")
