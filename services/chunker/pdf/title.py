"""The title of a document, from its properties where it is one that a person gave."""

from __future__ import annotations

import re

import pypdfium2 as pdfium  # type: ignore[import-untyped]

_NO_TITLE = re.compile(
    r"(?:untitled|unbenannt|sans titre|sin título|senza titolo|无标题|無題)?[\W\d_]*"
    r"|(?:document|title|slide|page)\s*\d*"
    r"|(?:powerpoint|word|excel) (?:presentation|document)|pdf|\(?anonymous\)?|\(?unspecified\)?|.*\$\w+\$?.*",
    re.IGNORECASE,
)
_PROGRAM = re.compile(r"^(?:microsoft (?:office )?(?:word|powerpoint|excel|publisher)|adobe \w+)\s*-\s*", re.IGNORECASE)
_FILE_NAME = re.compile(
    r"(?:\w:\\|/|file:).*|.*\.(?:docx?|pptx?|xlsx?|pdf|rtf|odt|tex|dvi|indd|qxd|fm|html?|txt|pub|ps)", re.I
)
_NAMELIKE = re.compile(r"\S*[_\d]\S*")


def own_title(document: pdfium.PdfDocument) -> str | None:
    """The title that the properties hold; None for names of files and what programs fill in."""
    title = " ".join(document.get_metadata_value("Title").split())
    if len(title) < 3 or len(title) > 300 or "\ufffd" in title:
        return None
    bare = _PROGRAM.sub("", title)
    if bare != title or _NO_TITLE.fullmatch(title) or _FILE_NAME.fullmatch(title) or _NAMELIKE.fullmatch(title):
        return None
    return title
