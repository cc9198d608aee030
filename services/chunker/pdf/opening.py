"""Opening a PDF: passwords, damage and absurd sizes are told apart."""

from __future__ import annotations

import pypdfium2 as pdfium  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium_c  # type: ignore[import-untyped]

from schemas.codes import Code
from services.chassis.errors import SourceRefused

MOST_PAGES = 5000


def opened(body: bytes) -> pdfium.PdfDocument:
    """Open the document, without a password and with its form. Raises ENCRYPTED, BROKEN or SOURCE_TOO_LARGE."""
    try:
        document = pdfium.PdfDocument(body)
    except pdfium.PdfiumError as error:
        if error.err_code in (pdfium_c.FPDF_ERR_PASSWORD, pdfium_c.FPDF_ERR_SECURITY):
            raise SourceRefused(Code.ENCRYPTED, "the document opens only with a password") from error
        raise SourceRefused(Code.BROKEN, "the file is no PDF, or is damaged beyond repair") from error
    pages = len(document)
    if not 0 < pages <= MOST_PAGES:
        document.close()
        if pages > 0:
            raise SourceRefused(Code.SOURCE_TOO_LARGE, f"the document has {pages} pages, more than {MOST_PAGES}")
        raise SourceRefused(Code.BROKEN, "the document has no pages")
    if document.get_formtype() != pdfium_c.FORMTYPE_NONE:
        document.init_forms()
    return document
