"""From bytes to text: byte order mark, UTF-16 without one, UTF-8, what was declared, then detection."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple
from unicodedata import category

from schemas.codes import Code
from services.chassis.errors import SourceRefused

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Labels mean on the web what browsers take them for: the superset with the vendor's additions.
_WIDER = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "iso8859-9": "cp1254",
    "tis-620": "cp874",
}
_ALIASES = {
    "x-sjis": "shift_jis",
    "windows-31j": "cp932",
    "ks_c_5601-1987": "euc_kr",
    "x-euc-jp": "euc_jp",
    "x-gbk": "gbk",
    "unicode": "utf-16",
    "utf8": "utf-8",
    "x-mac-roman": "mac_roman",
}
# Servers send these as a default for files whose charset they don't know.
_WEAK = {"iso8859-1", "cp1252", "ascii"}
_META = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.\-]{2,40})", re.IGNORECASE)
_XML = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9_:.\-]{2,40})", re.IGNORECASE)
_META_WINDOW = 4096
_HIGH = bytes(range(0x80, 0x100))
_SAMPLE = 65536
_WIDE_SAMPLE = 4096
_PLAIN_SIGNS = re.compile("[\n\x20-\x7e、。，]")
_NO_SIGNS = frozenset(("Cc", "Cn", "Co", "Cs"))


class Decoded(NamedTuple):
    """Text, the name of its charset, and what had to be guessed or repaired."""

    text: str
    charset: str
    warnings: list[str]


def decode(body: bytes, declared: str | None, *, markup: bool) -> Decoded:
    """Decode `body`. `declared` is the transport's charset; `markup` says whether META and XML declarations count.

    Raises SourceRefused(UNSUPPORTED_TYPE) when no charset gives readable text.
    """
    marked = _by_mark(body) or _by_wide_order(body)
    if marked:
        return marked
    if b"\x1b" not in body[:_SAMPLE]:
        try:
            return Decoded(body.decode("utf-8"), "utf-8", [])
        except UnicodeDecodeError:
            pass
    return _by_declaration(body, declared, markup) or _by_detection(body)


def _by_mark(body: bytes) -> Decoded | None:
    for mark, name in _MARKS:
        if body.startswith(mark):
            text = body[len(mark) :].decode(name, "replace")
            warnings = ["some characters could not be decoded"] if "\ufffd" in text else []
            return Decoded(text, name, warnings)
    return None


def wide_order(sample: bytes) -> str | None:
    """The codec of UTF-16 without a mark; None for other bytes.

    In the right byte order there are blanks, digits and full stops, and no characters that stand for nothing.
    """
    sample = sample[: min(len(sample), _WIDE_SAMPLE) & ~1]
    zeros = sample.count(0)
    # Fewer zeros than a third, and a text without them: they are strays.
    if not zeros or (3 * zeros < len(sample) and _noise(sample.replace(b"\0", b"").decode("utf-8", "replace")) < 0.01):
        return None
    texts = {name: sample.decode(name, "replace") for name in ("utf-16-le", "utf-16-be")}
    plain = {name: len(_PLAIN_SIGNS.findall(text)) for name, text in texts.items()}
    best = max(plain, key=plain.__getitem__)
    return best if plain[best] > 0.02 * len(texts[best]) and _noise(texts[best]) < 0.01 else None


def _noise(text: str) -> float:
    """The share of characters that no text has."""
    noise = sum(1 for sign in text if sign == "\ufffd" or (category(sign) in _NO_SIGNS and sign not in "\t\n\r\f"))
    return noise / max(len(text), 1)


def _by_wide_order(body: bytes) -> Decoded | None:
    name = wide_order(body) if len(body) % 2 == 0 else None
    if name is None:
        return None
    try:
        return Decoded(body.decode(name), name, [])
    except UnicodeDecodeError:
        return None


def _by_declaration(body: bytes, declared: str | None, markup: bool) -> Decoded | None:
    labels = [declared] if declared else []
    if markup:
        found = _META.search(body[:_META_WINDOW]) or _XML.search(body[:_META_WINDOW])
        if found:
            labels.append(found[1].decode("ascii"))
    strong = [label for label in labels if codec_name(label) not in _WEAK]
    for label in strong:
        text = _strictly(body, label)
        if text is not None:
            return Decoded(text, label.lower(), [])
    weak = [label for label in labels if label not in strong]
    if not weak:
        return None
    if _mostly_high(body) and (detected := _detect(body)) and not detected.western:
        return None
    text = _strictly(body, weak[0])
    return Decoded(text, weak[0].lower(), []) if text is not None else None


def codec_name(label: str) -> str | None:
    """Python's name of the codec that `label` stands for, or None."""
    label = label.strip().strip("\"'").lower()
    try:
        return codecs.lookup(_ALIASES.get(label, label)).name
    except (LookupError, ValueError):
        return None


def _strictly(body: bytes, label: str) -> str | None:
    name = codec_name(label)
    if name is None:
        return None
    try:
        return codecs.decode(body, _WIDER.get(name, name))
    except (UnicodeError, LookupError):
        return None


def _mostly_high(body: bytes) -> bool:
    """Whether so many bytes are above ASCII that the script can't be Latin."""
    sample = body[:_SAMPLE]
    return len(sample.translate(None, _HIGH)) < 0.75 * len(sample)


class _Detected(NamedTuple):
    label: str
    western: bool


def _detect(body: bytes) -> _Detected | None:
    import chardet  # 60 ms to load, and most documents are UTF-8

    found = chardet.detect(body[:_SAMPLE])
    label = found["encoding"]
    if not label:
        return None
    western = codec_name(label) in {"cp1252", "iso8859-1", "iso8859-15", "ascii", "mac-roman", "cp850", "cp437"}
    return _Detected(label, western)


def _by_detection(body: bytes) -> Decoded:
    repaired = body.decode("utf-8", "replace")
    bad = repaired.count("\ufffd")
    if bad * 20 < len(body) - len(repaired):
        # Damaged here and there, and full of sequences that only UTF-8 has.
        return Decoded(repaired, "utf-8", ["some characters could not be decoded"])
    detected = _detect(body)
    text = _strictly(body, detected.label) if detected else None
    if detected and text is not None and _readable(text):
        return Decoded(text, detected.label.lower(), [f"charset {detected.label} was guessed"])
    if bad <= len(repaired) / 100:
        return Decoded(repaired, "utf-8", ["some characters could not be decoded"])
    raise SourceRefused(Code.UNSUPPORTED_TYPE, "the bytes are text in no charset that could be recognised")


def _readable(text: str) -> bool:
    sample = text[:4096]
    controls = sum(1 for c in sample if (c < " " and c not in "\t\n\r\f\x1b") or "\x7f" <= c < "\xa0")
    return controls <= len(sample) / 50
