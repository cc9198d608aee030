"""The text of an HTML answer, as much of it as can be parsed in bounded time and memory."""

from __future__ import annotations

import re
from typing import NamedTuple

from services.fetcher.http.answers import Fetched

MAX_BYTES = 2**20
# Building a tree takes time that grows with the square of the depth, or of the attributes of one element, and memory
# that grows with formatting elements times the blocks which they are repeated in.
MAX_TAGS = 5_000
MAX_FORMATTING = 200
MAX_ATTRIBUTES = 300
HEAD_TAGS = 300

_HTML_TYPES = {"text/html", "application/xhtml+xml"}
_DOCTYPE = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.{0,2000}?-->\s*)*<(?:!doctype\s+html|html)\b", re.I | re.S)
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([A-Za-z0-9_-]{2,30})", re.IGNORECASE)
# Python knows codecs for other things than text, and some of them are slow.
_CHARSET = re.compile(
    r"utf-?(8|16|16le|16be)|us-ascii|iso-?8859-?\d+|latin-?\d|windows-?\d+|cp\d+|koi8-[ru]|gb(k|2312|18030)|big5"
    r"|euc-(jp|kr)|shift[-_]jis|iso-2022-jp|ks_c_5601-1987|tis-620|macroman",
    re.IGNORECASE,
)
_SILENT = re.compile(r"<!--.*?(?:--!?>|\Z)|<(script|style)\b.*?(?:</\1[^>]*>?|\Z)", re.IGNORECASE | re.DOTALL)
_OPENING = re.compile(r"<[a-zA-Z]")
_FORMATTING = re.compile(r"<(?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)\b", re.IGNORECASE)
_ATTRIBUTE = r"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+)?)?+"""
_CROWDED = re.compile(rf"<[a-zA-Z](?:[^\s/>]{{100}}|[^\s/>]*+(?:{_ATTRIBUTE}){{{MAX_ATTRIBUTES}}})")


class Markup(NamedTuple):
    """HTML without comments, scripts and styles. whole: False where it is only the beginning of a large page."""

    html: str
    whole: bool
    scripts: bool


def markup(page: Fetched) -> Markup | None:
    """What can be looked at of the page. None where it isn't HTML."""
    beginning = page.body[:MAX_BYTES]
    if not (page.media_type in _HTML_TYPES or (page.media_type is None and _DOCTYPE.match(beginning))):
        return None
    text = beginning.decode(_charset(page.charset, beginning), errors="replace")
    html = _SILENT.sub(" ", text)
    whole = len(page.body) <= MAX_BYTES and _tags_end(html, MAX_TAGS) is None
    whole = whole and len(_FORMATTING.findall(html)) <= MAX_FORMATTING
    if not whole:
        html = html[: _tags_end(html, HEAD_TAGS)]
    if _CROWDED.search(html):
        return Markup("", False, False)
    return Markup(html, whole, "<script" in text.lower())


def _charset(named: str | None, beginning: bytes) -> str:
    if beginning.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    found = _META_CHARSET.search(beginning[:4_096])
    for name in (named, found and found[1].decode("ascii")):
        if name and _CHARSET.fullmatch(name):
            try:
                b"".decode(name)
            except LookupError:
                continue
            return name
    return "utf-8"


def _tags_end(html: str, most: int) -> int | None:
    """Where the element after so many begins. None where there are not so many."""
    for number, opening in enumerate(_OPENING.finditer(html)):
        if number == most:
            return opening.start()
    return None
