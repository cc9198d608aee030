"""Mails as they are stored: who wrote to whom and when, the text, and the names of what is attached."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.policy import compat32
from email.utils import collapse_rfc2231_value

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.chunker.blocks import Document, DocumentBuilder, Kind
from services.chunker.charset import decode
from services.chunker.html.page import walk_fragment
from services.chunker.plaintext import add_paragraphs, unix_lines

_SHOWN = ("From", "To", "Cc", "Date")
_DEEPEST = 20
_DEEPEST_HEADING = 6
_FLOWED = re.compile(r"(?<!^--) \n(?!>|\s*\n)", re.MULTILINE)
# Words that follow each other may share a character between them.
_ENCODED_WORDS = re.compile(r"=\?[^?\s]+\?[bq]\?[^?]*\?=(?:\s+=\?[^?\s]+\?[bq]\?[^?]*\?=)*", re.IGNORECASE)


def parse_mail(body: bytes) -> Document:
    """Parse a mail. Raises SourceRefused with TOO_DEEP or NO_TEXT; what is damaged is read as far as it goes."""
    message = message_from_bytes(body.lstrip(), policy=compat32)
    builder = DocumentBuilder()
    _Writer(builder).message(message, 1)
    return builder.finish(_header(message, "Subject"), "message/rfc822", None)


class _Writer:
    """Writes mails, and the mails within them, into `builder`."""

    def __init__(self, builder: DocumentBuilder) -> None:
        self._builder = builder

    def message(self, message: Message, level: int) -> None:
        """Write one mail as a section of `level`."""
        if level > _DEEPEST:
            raise SourceRefused(Code.TOO_DEEP, f"mails are nested more than {_DEEPEST} levels")
        self._builder.heading(min(level, _DEEPEST_HEADING), _header(message, "Subject"))
        shown = [(name, _header(message, name)) for name in _SHOWN]
        self._builder.add(Kind.PARAGRAPH, "\n".join(f"{name}: {value}" for name, value in shown if value))
        attached: list[str] = []
        for part in _leaves(message):
            kind = part.get_content_type()
            if kind == "message/rfc822":
                for inner in _parts(part):
                    self.message(inner, level + 1)
            elif kind in ("text/plain", "text/html") and _is_inline(part, message):
                self._text(part, kind)
            elif _file_name(part):
                attached.append(_file_name(part))
        if attached:
            self._builder.add(Kind.PARAGRAPH, "Attachments: " + ", ".join(attached))

    def _text(self, part: Message, kind: str) -> None:
        content = part.get_payload(decode=True)
        if not isinstance(content, bytes) or not content.strip():
            return
        try:
            text = decode(content, _parameter(part, "charset"), markup=kind == "text/html").text
        except SourceRefused as refused:
            self._builder.warnings.append(f"a part of the mail was left out: {refused.reason}")
            return
        if kind == "text/html":
            walk_fragment(text, self._builder)
        else:
            flowed = _parameter(part, "format") == "flowed"
            add_paragraphs(_FLOWED.sub(" ", unix_lines(text)) if flowed else text, self._builder)


def _leaves(message: Message) -> Iterator[Message]:
    """The parts that hold content, in order; of alternatives the one that reads best as text."""
    stack = [message]
    while stack:
        part = stack.pop()
        kind = part.get_content_type()
        if not part.is_multipart() or kind == "message/rfc822":
            yield part
        elif kind == "multipart/alternative":
            stack.extend(_best(_parts(part)))
        else:
            stack.extend(reversed(_parts(part)))


def _best(alternatives: list[Message]) -> list[Message]:
    for part in alternatives:
        if part.get_content_type() == "text/plain" and str(part.get_payload()).strip():
            return [part]
    readable = [part for part in alternatives if part.is_multipart() or part.get_content_maintype() == "text"]
    return readable[-1:]


def _parts(message: Message) -> list[Message]:
    parts = message.get_payload()
    return [part for part in parts if isinstance(part, Message)] if isinstance(parts, list) else []


def _is_inline(part: Message, message: Message) -> bool:
    """Whether a part is the mail's own text: the only part is, whatever it is called."""
    return part.get_content_disposition() != "attachment" and (part is message or not _file_name(part))


def _parameter(part: Message, name: str) -> str | None:
    value = part.get_param(name)
    return collapse_rfc2231_value(value).lower() if isinstance(value, str | tuple) else None


def _file_name(part: Message) -> str:
    value = part.get_param("filename", None, "content-disposition") or part.get_param("name")
    return _readable(collapse_rfc2231_value(value)) if isinstance(value, str | tuple) else ""


def _header(message: Message, name: str) -> str:
    """The first header of that name, decoded, on one line; "" when there is none."""
    for key, value in message.raw_items():
        if key.lower() == name.lower():
            return _readable(str(value))
    return ""


def _readable(value: str) -> str:
    """Decode the encoded words of a header, and bytes that stand in it as they are."""
    raw = value.encode("utf-8", "surrogateescape")
    if not raw.isascii():
        value = _decoded(raw, None)
    return " ".join(_ENCODED_WORDS.sub(_decoded_words, value).split())


def _decoded_words(words: re.Match[str]) -> str:
    try:
        decoded = decode_header(words[0])
    except HeaderParseError:
        return words[0]
    return "".join(word if isinstance(word, str) else _decoded(word, label) for word, label in decoded)


def _decoded(raw: bytes, charset: str | None) -> str:
    try:
        return decode(raw, charset, markup=False).text
    except SourceRefused:
        return raw.decode("utf-8", "replace")
