"""The type of a document, by its content; the declared media type and the name only decide between kinds of text."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from services.chunker.charset import wide_order
from services.chunker.office import kinds

HTML = "text/html"
MARKDOWN = "text/markdown"
TEXT = "text/plain"
JSON = "application/json"
CSV = "text/csv"
TSV = "text/tab-separated-values"
MAIL = "message/rfc822"
BINARY = "application/octet-stream"

_SIGNATURES = (
    (b"PK\x03\x04", kinds.ZIP),
    (b"PK\x05\x06", kinds.ZIP),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", kinds.OLE),
    (b"{\\rtf", "application/rtf"),
    (b"\x1f\x8b", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"\xfd7zXZ\x00", "application/x-xz"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"\x89PNG", "image/png"),
    (b"GIF8", "image/gif"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x7fELF", "application/x-executable"),
    (b"OggS", "application/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"%!PS", "application/postscript"),
)
_BY_SUFFIX = {
    "html": HTML, "htm": HTML, "xhtml": HTML,
    "md": MARKDOWN, "markdown": MARKDOWN, "mdown": MARKDOWN, "mkd": MARKDOWN, "mdx": MARKDOWN,
    "json": JSON, "jsonl": JSON, "ndjson": JSON, "csv": CSV, "tsv": TSV, "tab": TSV,
    "txt": TEXT, "text": TEXT, "log": TEXT, "rst": TEXT, "adoc": TEXT,
    "eml": MAIL,
}  # fmt: skip
_BY_MEDIA_TYPE = {
    "text/html": HTML,
    "application/xhtml+xml": HTML,
    "text/markdown": MARKDOWN,
    "text/x-markdown": MARKDOWN,
    "application/json": JSON,
    "text/json": JSON,
    "application/x-ndjson": JSON,
    "application/jsonl": JSON,
    "text/csv": CSV,
    "application/csv": CSV,
    "text/tab-separated-values": TSV,
    "message/rfc822": MAIL,
}
_HTML_START = re.compile(
    rb"(?:\s|<\?xml[^>]*>|<!--.*?-->)*<(?:!doctype\s+html|html[\s>]|head[\s>]|body[\s>])", re.IGNORECASE | re.DOTALL
)
_TAG = re.compile(rb"<[a-z!/][^<>]*>", re.IGNORECASE)
_MARKDOWN_SIGNS = (
    re.compile(rb"^#{1,6} \S", re.MULTILINE),
    re.compile(rb"^(?:```|~~~)", re.MULTILINE),
    re.compile(rb"\]\([^)\s]+\)"),
    re.compile(rb"^\|(?:\s*:?-+:?\s*\|)+\s*$", re.MULTILINE),
    re.compile(rb"\A---\r?\n[\w-]+:"),
    re.compile(rb"\*\*\S[^*\n]*\*\*"),
)
_CONTAINERS = {kinds.ZIP: kinds.zip_kind, kinds.OLE: kinds.ole_kind}
_CONTROLS = bytes(set(range(32)) - {9, 10, 11, 12, 13, 27})
_WINDOW = 8192


class Sniffed(NamedTuple):
    """A media type, and whether the content alone settled it."""

    media_type: str
    certain: bool


def sniff(body: bytes, media_type: str | None = None, name: str | None = None) -> Sniffed:
    """Return the type of `body`; `media_type` may carry parameters, `name` a path."""
    head = body[:_WINDOW]
    if b"%PDF-" in head[:1024]:
        return Sniffed("application/pdf", True)
    for signature, found in _SIGNATURES:
        if head.startswith(signature):
            look_inside = _CONTAINERS.get(found)
            return Sniffed(look_inside(body) if look_inside else found, True)
    plain = _without_zeros(head)
    if plain is None:
        return Sniffed(BINARY, True)
    if _HTML_START.match(plain):
        return Sniffed(HTML, True)
    return Sniffed(_kind_of_text(plain, media_type, name), False)


def _without_zeros(head: bytes) -> bytes | None:
    """The head of a text as single bytes, UTF-16 folded; None when it is no text."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)):
        return head[2:].replace(b"\x00", b"")
    order = wide_order(head)
    if order:
        return head.decode(order, "replace").encode()
    controls = len(head) - len(head.translate(None, _CONTROLS))
    if controls > max(3, len(head) / 100):
        return None
    return head.removeprefix(codecs.BOM_UTF8)


def _kind_of_text(head: bytes, media_type: str | None, name: str | None) -> str:
    suffix = (name or "").rsplit("/", 1)[-1].rpartition(".")[2].lower()
    essence = (media_type or "").partition(";")[0].strip().lower()
    by_name = _BY_SUFFIX.get(suffix)
    by_type = _BY_MEDIA_TYPE.get(essence)
    if by_type == HTML and by_name in (MARKDOWN, TEXT) and head.lstrip()[:1] != b"<":
        return by_name
    if by_type == HTML:
        return HTML if _TAG.search(head) else TEXT
    if by_name == HTML and by_type is None:
        return HTML if _TAG.search(head) else TEXT
    # A server that knows no better calls each text text/plain; the name knows more.
    return by_type or by_name or _by_signs(head)


def _by_signs(head: bytes) -> str:
    if sum(1 for sign in _MARKDOWN_SIGNS if sign.search(head)) >= 2:
        return MARKDOWN
    tags = _TAG.findall(head)
    if len(tags) >= 4 and head.lstrip()[:1] == b"<":
        return HTML
    return TEXT
