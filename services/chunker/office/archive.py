"""Zip archives read with suspicion: nothing is inflated that a limit has not allowed, nothing is written anywhere."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

from schemas.codes import Code
from services.chassis.errors import SourceRefused

_MEBIBYTE = 1 << 20
# More entries than any office document has; each costs memory before anything of it is read.
_MOST_ENTRIES = 20_000
_LARGEST_PART = 64 * _MEBIBYTE
_LARGEST_READ = 160 * _MEBIBYTE
_LARGEST_TOTAL = 1024 * _MEBIBYTE
# The markup of a long document shrinks to a fiftieth at best; deflate itself ends at about a thousandth.
_HIGHEST_RATIO = 250
_RATIO_MATTERS = 8 * _MEBIBYTE
_ENTRY_SIGNATURE = b"PK\x01\x02"
# Other methods inflate without bound in one step, and no office program writes them.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, ValueError, OSError)


class Archive:
    """The parts of a zip archive by name. Names are compared without regard to case, as the Office formats do.

    Raises SourceRefused: BROKEN for a damaged archive, SOURCE_TOO_LARGE for one that unpacks to too much, ENCRYPTED
    for a part that needs a password.
    """

    def __init__(self, body: bytes) -> None:
        if body.count(_ENTRY_SIGNATURE) > _MOST_ENTRIES:
            raise SourceRefused(Code.SOURCE_TOO_LARGE, f"the archive has more than {_MOST_ENTRIES} entries")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(body))
        except _DAMAGE as error:
            raise SourceRefused(Code.BROKEN, f"the archive is damaged or cut off: {error}") from error
        entries = self._zip.infolist()
        if sum(entry.file_size for entry in entries) > _LARGEST_TOTAL:
            raise _too_large("the archive", _LARGEST_TOTAL)
        self._entries = {_plain(entry.filename): entry for entry in entries}
        self._left = _LARGEST_READ

    def __contains__(self, name: str) -> bool:
        return _plain(name) in self._entries

    @property
    def names(self) -> list[str]:
        """The names of the parts in lower case, with slashes and none in front, in the order of the directory."""
        return list(self._entries)

    def read(self, name: str) -> bytes:
        """Return the bytes of a part."""
        entry = self._entries.get(_plain(name))
        if entry is None:
            raise SourceRefused(Code.BROKEN, f"the part {name} is missing")
        self._guard(entry, name)
        limit = min(_LARGEST_PART, self._left)
        try:
            with self._zip.open(entry) as part:
                data = part.read(limit + 1)
        except _DAMAGE as error:
            raise SourceRefused(Code.BROKEN, f"the part {name} is damaged: {error}") from error
        if len(data) > limit:
            raise _too_large(f"the part {name}", limit)
        self._left -= len(data)
        return data

    def _guard(self, entry: zipfile.ZipInfo, name: str) -> None:
        """Refuse by what the directory says; what it hides is found while reading."""
        if entry.flag_bits & 1:
            raise SourceRefused(Code.ENCRYPTED, f"the part {name} needs a password")
        if entry.compress_type not in _METHODS:
            raise SourceRefused(Code.BROKEN, f"the part {name} is compressed by a method that documents do not use")
        if entry.file_size > min(_LARGEST_PART, self._left):
            raise _too_large(f"the part {name}", min(_LARGEST_PART, self._left))
        if entry.file_size > max(_RATIO_MATTERS, _HIGHEST_RATIO * entry.compress_size):
            raise SourceRefused(Code.SOURCE_TOO_LARGE, f"the part {name} unpacks to suspiciously much")


def _plain(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()


def _too_large(what: str, limit: int) -> SourceRefused:
    return SourceRefused(Code.SOURCE_TOO_LARGE, f"{what} unpacks to more than {limit // _MEBIBYTE} MiB")
