"""Which kind of document a zip archive or an OLE file holds, told by the names and the types of its parts."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator
from typing import Final

from services.chassis.errors import SourceRefused
from services.chunker.office.archive import Archive

DOCX: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX: Final = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
ODT: Final = "application/vnd.oasis.opendocument.text"
ZIP: Final = "application/zip"
OLE: Final = "application/x-ole-storage"
# An Office document under a password: an OLE file around the encrypted archive.
ENCRYPTED: Final = "application/x-ole-encrypted-package"
DOC: Final = "application/msword"
PPT: Final = "application/vnd.ms-powerpoint"
XLS: Final = "application/vnd.ms-excel"

_TYPES_PART = "[Content_Types].xml"
_MAIN_TYPES = (
    (
        re.compile(rb"wordprocessingml\.(?:document|template)\.main\+|ms-word\.\w+\.macroEnabled(?:Template)?\.main"),
        DOCX,
    ),
    (re.compile(rb"presentationml\.\w+\.main\+|ms-powerpoint\.\w+\.macroEnabled\.main"), PPTX),
    (re.compile(rb"spreadsheetml\.(?:sheet|template)\.main\+|ms-excel\.\w+\.(?:macroEnabled\.)?main"), XLSX),
)
_FOLDERS = {"word": DOCX, "ppt": PPTX, "xl": XLSX}
_LOCAL_ENTRY = b"PK\x03\x04"
_MEDIA_TYPE = re.compile(r"application/[\w.+-]+")
_STREAMS = (
    ("EncryptedPackage", ENCRYPTED),
    ("WordDocument", DOC),
    ("PowerPoint Document", PPT),
    ("Workbook", XLS),
    ("Book", XLS),
)
_OLE_ENTRY = 128


def zip_kind(body: bytes) -> str:
    """Return the media type of a zip archive; a variant with macros, or a template, counts as the plain document.

    A damaged archive is judged by the entries that can be found, so that its parser can say what is wrong.
    """
    try:
        archive = Archive(body)
    except SourceRefused:
        return _by_names(_local_names(body))
    return _by_parts(archive) or _by_names(archive.names)


def _by_parts(archive: Archive) -> str | None:
    try:
        if "mimetype" in archive:
            named = archive.read("mimetype")[:100].decode("ascii", "replace").strip()
            return ODT if named.startswith(ODT) else named if _MEDIA_TYPE.fullmatch(named) else None
        types = archive.read(_TYPES_PART) if _TYPES_PART in archive else b""
    except SourceRefused:
        return None
    return next((kind for pattern, kind in _MAIN_TYPES if pattern.search(types)), None)


def _by_names(names: Iterable[str]) -> str:
    for name in names:
        folder, slash, _ = name.partition("/")
        if slash and folder in _FOLDERS:
            return _FOLDERS[folder]
    return ZIP


def _local_names(body: bytes) -> Iterator[str]:
    """The names in the headers in front of the entries, for an archive without its directory."""
    at = body.find(_LOCAL_ENTRY)
    while 0 <= at <= len(body) - 30:
        (length,) = struct.unpack_from("<H", body, at + 26)
        yield body[at + 30 : at + 30 + min(length, 300)].decode("utf-8", "replace").lower()
        at = body.find(_LOCAL_ENTRY, at + 4)


def ole_kind(body: bytes) -> str:
    """Return the media type of an OLE file, the container of the formats before 2007 and of encrypted documents."""
    return next((kind for stream, kind in _STREAMS if _has_stream(body, stream)), OLE)


def _has_stream(body: bytes, name: str) -> bool:
    """Whether the directory, whose entries stand at multiples of 128 bytes, names a stream."""
    wanted = name.encode("utf-16-le") + b"\x00\x00"
    at = body.find(wanted)
    while at >= 0:
        if at % _OLE_ENTRY == 0 and body[at + 64 : at + 66] == len(wanted).to_bytes(2, "little"):
            return True
        at = body.find(wanted, at + 2)
    return False
