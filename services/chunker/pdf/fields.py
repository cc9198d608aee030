"""What a reader sees upon the page and its content does not hold: filled form fields and free text notes."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pypdfium2 as pdfium  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium_c  # type: ignore[import-untyped]

from services.chunker.pdf.frames import Frame
from services.chunker.pdf.words import Box, Segment, Style, Word, segment

_MOST_ANNOTATIONS = 5000
_LONGEST_VALUE = 100_000
_HIDDEN = pdfium_c.FPDF_ANNOT_FLAG_HIDDEN | pdfium_c.FPDF_ANNOT_FLAG_NOVIEW
_TEXTS = (pdfium_c.FPDF_FORMFIELD_TEXTFIELD, pdfium_c.FPDF_FORMFIELD_COMBOBOX)
_TICKS = (pdfium_c.FPDF_FORMFIELD_CHECKBOX, pdfium_c.FPDF_FORMFIELD_RADIOBUTTON)
_PASSWORD = 1 << 13
# Names that programs make up: "f1_02[0]", "Text12", "undefined_3".
_MADE_UP = re.compile(r"(?:[a-z]{1,3}\d*_\d+|text\w*?\d+|check ?box\w*?\d+|undefined\w*|field\w*?\d+)", re.IGNORECASE)


class Filled(NamedTuple):
    """A value with the name of its field, "" when it has none that tells anything, and its box on the page."""

    name: str
    value: str
    box: Box


def filled(page: pdfium.PdfPage, form: Any) -> Iterator[Filled]:
    """Yield the values of the page's fields, and its visible free text; `form` is the raw form or None."""
    for index in range(min(pdfium_c.FPDFPage_GetAnnotCount(page.raw), _MOST_ANNOTATIONS)):
        note = pdfium_c.FPDFPage_GetAnnot(page.raw, index)
        if not note:
            continue
        try:
            found = _read(note, form)
        finally:
            pdfium_c.FPDFPage_CloseAnnot(note)
        if found is not None:
            yield found


def as_segments(found: Filled, frame: Frame, printed: list[Segment]) -> list[Segment]:
    """The value where it stands on the page, as one segment a line; named where nothing is `printed` before it."""
    x0, y0, x1, y1 = frame.box(*found.box)
    named = found.name and not any(_labels(item, x0, x1, (y0 + y1) / 2) for item in printed)
    text = f"{found.name}: {found.value}" if named else found.value
    lines = [line for line in text.splitlines() if line.strip()]
    height = (y1 - y0) / max(len(lines), 1)
    style = Style(max(min(height, 10.0), 1.0))
    made: list[Segment] = []
    for number, line in enumerate(lines):
        top = y0 + number * height
        right = min(x1, x0 + 0.5 * style.size * len(line))
        words = [Word(word, x0, top, right, top + height, style) for word in line.split()]
        made.append(segment(words, number))
    return made


def _labels(item: Segment, x0: float, x1: float, middle: float) -> bool:
    """Whether a printed text stands before a field, or right after it as beside a box to tick."""
    return item.y0 < middle < item.y1 and (-200 < item.x1 - x0 < 10 or -5 < item.x0 - x1 < 20)


def _read(note: Any, form: Any) -> Filled | None:
    if pdfium_c.FPDFAnnot_GetFlags(note) & _HIDDEN:
        return None
    kind = pdfium_c.FPDFAnnot_GetSubtype(note)
    if kind == pdfium_c.FPDF_ANNOT_FREETEXT:
        name, value = "", _text(lambda buffer, size: pdfium_c.FPDFAnnot_GetStringValue(note, b"Contents", buffer, size))
    elif kind == pdfium_c.FPDF_ANNOT_WIDGET and form is not None:
        name, value = _name(note, form), _value(note, form)
    else:
        return None
    rectangle = pdfium_c.FS_RECTF()
    if not value.strip() or not pdfium_c.FPDFAnnot_GetRect(note, rectangle):
        return None
    return Filled(name, value, (rectangle.left, rectangle.bottom, rectangle.right, rectangle.top))


def _name(note: Any, form: Any) -> str:
    """The tooltip of the field, else its name where a person gave it."""
    tip = _text(lambda buffer, size: pdfium_c.FPDFAnnot_GetFormFieldAlternateName(form, note, buffer, size))
    if tip.strip():
        return " ".join(tip.split()).rstrip(" .:")
    name = _text(lambda buffer, size: pdfium_c.FPDFAnnot_GetFormFieldName(form, note, buffer, size))
    last = re.sub(r"\[\d+\]", "", name.rsplit(".", 1)[-1]).strip()
    return "" if _MADE_UP.fullmatch(last) else last


def _value(note: Any, form: Any) -> str:
    kind = pdfium_c.FPDFAnnot_GetFormFieldType(form, note)
    if kind in _TICKS:
        return "☒" if pdfium_c.FPDFAnnot_IsChecked(form, note) else ""
    if kind in _TEXTS and not pdfium_c.FPDFAnnot_GetFormFieldFlags(form, note) & _PASSWORD:
        return _text(lambda buffer, size: pdfium_c.FPDFAnnot_GetFormFieldValue(form, note, buffer, size))
    if kind == pdfium_c.FPDF_FORMFIELD_LISTBOX:
        return ", ".join(_chosen(note, form))
    return ""


def _chosen(note: Any, form: Any) -> Iterator[str]:
    for index in range(min(pdfium_c.FPDFAnnot_GetOptionCount(form, note), 1000)):
        if pdfium_c.FPDFAnnot_IsOptionSelected(form, note, index):
            yield _option(note, form, index)


def _option(note: Any, form: Any, index: int) -> str:
    return _text(lambda buffer, size: pdfium_c.FPDFAnnot_GetOptionLabel(form, note, index, buffer, size))


def _text(read: Callable[[Any, int], int]) -> str:
    """A text of pdfium's, which is UTF-16 with a zero at its end; `read` returns its bytes, and writes what fits."""
    length = min(read(None, 0), _LONGEST_VALUE)
    if length <= 2:
        return ""
    buffer = (ctypes.c_ushort * (length // 2))()
    read(buffer, length)
    return bytes(buffer).decode("utf-16-le", "ignore").rstrip("\0").replace("\r\n", "\n").replace("\r", "\n")
