"""From the bytes of a source to a document: type, charset, and the parser of that type."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import unquote, urlsplit

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.chunker import sniffing
from services.chunker.blocks import Document
from services.chunker.charset import decode
from services.chunker.data.delimited import parse_delimited
from services.chunker.data.records import parse_json
from services.chunker.html.page import parse_html
from services.chunker.language import language_of_blocks
from services.chunker.mail import parse_mail
from services.chunker.markdown.page import parse_markdown
from services.chunker.office import kinds, refusals
from services.chunker.office.opendocument.document import parse_odt
from services.chunker.office.slides.presentation import parse_pptx
from services.chunker.office.word.document import parse_docx
from services.chunker.pdf.document import parse_pdf
from services.chunker.plaintext import parse_text

_BINARY_PARSERS: dict[str, Callable[[bytes], Document]] = {
    "application/pdf": parse_pdf,
    sniffing.MAIL: parse_mail,
    kinds.DOCX: parse_docx,
    kinds.PPTX: parse_pptx,
    kinds.ODT: parse_odt,
    kinds.ENCRYPTED: refusals.refuse_encrypted,
    kinds.DOC: refusals.refuse_doc,
    kinds.PPT: refusals.refuse_ppt,
    kinds.XLS: refusals.refuse_xls,
}
_TEXT_PARSERS: dict[str, Callable[[str, str], Document]] = {
    sniffing.HTML: parse_html,
    sniffing.MARKDOWN: parse_markdown,
    sniffing.TEXT: parse_text,
    sniffing.JSON: parse_json,
    sniffing.CSV: parse_delimited,
    sniffing.TSV: parse_delimited,
}


def parse(
    body: bytes,
    *,
    media_type: str | None = None,
    charset: str | None = None,
    name: str | None = None,
    url: str | None = None,
) -> Document:
    """Parse `body`; `media_type` and `charset` as declared by the transport, `name` or `url` as hints of the type.

    Raises SourceRefused with EMPTY, UNSUPPORTED_TYPE, NO_TEXT or the parser's own code.
    """
    if not body.strip():
        raise SourceRefused(Code.EMPTY, "the document has no bytes but blank ones")
    if name is None and url is not None:
        name = unquote(urlsplit(url).path)
    kind = sniffing.sniff(body, media_type, name).media_type
    document = _parsed(body, kind, charset)
    document.language = language_of_blocks(document.blocks)
    return document


def _parsed(body: bytes, kind: str, charset: str | None) -> Document:
    binary_parser = _BINARY_PARSERS.get(kind)
    if binary_parser is not None:
        return binary_parser(body)
    parser = _TEXT_PARSERS.get(kind)
    if parser is None:
        raise SourceRefused(Code.UNSUPPORTED_TYPE, f"documents of type {kind} are not parsed")
    decoded = decode(body, charset, markup=kind == sniffing.HTML)
    document = parser(decoded.text, decoded.charset)
    document.warnings[:0] = decoded.warnings
    return document
