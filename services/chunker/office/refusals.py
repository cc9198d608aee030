"""Documents that are known and refused: the formats before 2007, and those under a password."""

from __future__ import annotations

from typing import NoReturn

from schemas.codes import Code
from services.chassis.errors import SourceRefused


def refuse_encrypted(body: bytes) -> NoReturn:
    """Refuse an Office document that is encrypted as a whole."""
    raise SourceRefused(Code.ENCRYPTED, "the document is encrypted and needs a password")


def refuse_doc(body: bytes) -> NoReturn:
    """Refuse a document of Word 97 to 2003."""
    raise _legacy("a Word 97-2003 document (.doc)", ".docx")


def refuse_ppt(body: bytes) -> NoReturn:
    """Refuse a presentation of PowerPoint 97 to 2003."""
    raise _legacy("a PowerPoint 97-2003 presentation (.ppt)", ".pptx")


def refuse_xls(body: bytes) -> NoReturn:
    """Refuse a workbook of Excel 97 to 2003."""
    raise _legacy("an Excel 97-2003 workbook (.xls)", ".csv")


def _legacy(what: str, wanted: str) -> SourceRefused:
    return SourceRefused(Code.UNSUPPORTED_TYPE, f"{what} is not parsed: save it as {wanted}")
