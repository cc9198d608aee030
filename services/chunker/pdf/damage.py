"""Compressed parts of a file that do not decompress: readers then show what is left, and do not say so."""

from __future__ import annotations

import re
import zlib

_STREAM = re.compile(rb"(?<!end)stream\r?\n")
_PLAIN_FLATE = re.compile(rb"/Filter\s*\[?\s*/FlateDecode\s*[\]/>\r\n ]")
_DICTIONARY = 400
# In bytes: what is decompressed at most, a piece at a time.
_MOST_BYTES = 64 << 20
_PIECE = 1 << 20


def damaged_streams(body: bytes) -> int:
    """How many compressed streams of text or fonts are damaged; 0 for encrypted files, where it can't be seen."""
    if b"/Encrypt" in body:
        return 0
    left = _MOST_BYTES
    damaged = 0
    for found in _STREAM.finditer(body):
        head = body[max(0, found.start() - _DICTIONARY) : found.start()]
        head = head[head.rfind(b" obj") :]
        if not _PLAIN_FLATE.search(head) or b"/Image" in head or not _is_zlib(body[found.end() : found.end() + 2]):
            continue
        end = body.find(b"endstream", found.end())
        size = _decompressed(body[found.end() : end if end >= 0 else None], left)
        damaged += size is None
        left -= size or 0
        if left <= 0:
            break
    return damaged


def _is_zlib(header: bytes) -> bool:
    return len(header) == 2 and header[0] & 15 == 8 and int.from_bytes(header, "big") % 31 == 0


def _decompressed(data: bytes, most: int) -> int | None:
    """The length of `data` decompressed, counted up to `most`; None when it is damaged."""
    inflater = zlib.decompressobj()
    size = 0
    try:
        while data and size < most:
            size += len(inflater.decompress(data, _PIECE))
            data = inflater.unconsumed_tail
    except zlib.error:
        return None
    return size
