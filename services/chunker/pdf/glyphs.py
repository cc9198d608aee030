"""The characters of a page as pdfium gives them, with boxes and the object that draws each."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from math import atan2, degrees, sqrt
from typing import Any, NamedTuple

import pypdfium2 as pdfium  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium_c  # type: ignore[import-untyped]

from services.chunker.pdf.words import Box, Style


class Run(NamedTuple):
    """Characters side by side that one text object draws, without blanks.

    `first` and `last` are the boxes of the outer ones (left, bottom, right, top in points of the page, y upwards),
    `drawn` the address of the object, `place` that of the first one in the page's text. `spaced`: a blank or a
    line's end precedes.
    """

    text: str
    first: Box
    last: Box
    drawn: int
    place: int
    spaced: bool


class Face(NamedTuple):
    """Style of the characters of one text object, and the direction of their baseline in whole degrees."""

    style: Style
    angle: int


def _fast(function: Any, result: Any, *arguments: Any) -> Callable[..., Any]:
    """The same function with plain argument types: it is called for each character, and checks cost more than work."""
    address = ctypes.cast(function, ctypes.c_void_p).value or 0
    return ctypes.PYFUNCTYPE(result, *arguments)(address)


_unicode = _fast(pdfium_c.FPDFText_GetUnicode, ctypes.c_uint, ctypes.c_void_p, ctypes.c_int)
_box = _fast(pdfium_c.FPDFText_GetLooseCharBox, ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
_drawn = _fast(pdfium_c.FPDFText_GetTextObject, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)

# Codes at which old TeX fonts have ligatures, and what pdfium makes of one of them.
_LIGATURES = {0x0B: "ff", 0x0C: "fi", 0x0E: "ffi", 0x0F: "ffl", 0x21B5: "ff"}
# pdfium writes the hyphen at the end of a line as one of these.
_HYPHENS = (0x02, 0xFFFE)
# The separators from 0x1c on, blanks to Python, are none in a font.
_NO_BLANKS = re.compile("[^ \t\n\r\xa0\u2000-\u200b\u2028-\u202f\u205f\u3000]+")
_REPLACED = str.maketrans(
    dict.fromkeys([*range(9), *range(0x10, 0x20), 0x7F], "\ufffd") | _LIGATURES | dict.fromkeys(_HYPHENS, "-")
)
_ERROR_SAMPLE = 200


def runs(text: pdfium.PdfTextPage) -> Iterator[Run]:
    """Yield the characters in the order of the file."""
    page = ctypes.cast(text.raw, ctypes.c_void_p)
    box = pdfium_c.FS_RECTF()
    reference = ctypes.byref(box)

    def box_at(index: int) -> Box:
        _box(page, index, reference)
        return box.left, box.bottom, box.right, box.top

    letters = _letters(page, text.count_chars())
    for found in _NO_BLANKS.finditer(letters):
        start, end = found.span()
        spaced = True
        while start < end:
            drawn = _drawn(page, start) or 0
            stop = end if (_drawn(page, end - 1) or 0) == drawn else start + 1
            while stop < end and (_drawn(page, stop) or 0) == drawn:
                stop += 1
            first = box_at(start)
            last = first if stop - start == 1 else box_at(stop - 1)
            yield Run(letters[start:stop].translate(_REPLACED), first, last, drawn, start, spaced)
            start, spaced = stop, False


def _letters(page: Any, count: int) -> str:
    """The page's text, one character for each place."""
    codes = [_unicode(page, index) for index in range(count)]
    return "".join([chr(code) if code < 0xD800 or 0xE000 <= code < 0x110000 else "\ufffd" for code in codes])


class Faces:
    """The faces of a page's text objects, each looked up once."""

    def __init__(self, text: pdfium.PdfTextPage) -> None:
        self._text = text
        self._known: dict[int, Face] = {}

    def of(self, run: Run) -> Face:
        """The face of the object that draws `run`."""
        face = self._known.get(run.drawn)
        if face is None:
            face = self._known[run.drawn] = self._look_up(run)
        return face

    def _look_up(self, run: Run) -> Face:
        matrix = pdfium_c.FS_MATRIX()
        pdfium_c.FPDFText_GetMatrix(self._text.raw, run.place, matrix)
        scale = sqrt(abs(matrix.a * matrix.d - matrix.b * matrix.c)) or 1.0
        size = pdfium_c.FPDFText_GetFontSize(self._text.raw, run.place) * scale
        if not 0.5 < size < 2000:
            size = max(run.first[3] - run.first[1], 1.0)
        bold, mono = _weight_and_width(self._text.raw, run.place)
        return Face(Style(round(size * 2) / 2, bold, mono), _angle(matrix.a, matrix.b))


def _angle(a: float, b: float) -> int:
    """The direction of a baseline in degrees from 0 to 359; near a right angle it is one."""
    angle = degrees(atan2(b, a)) % 360
    nearest = round(angle / 90) * 90
    return (nearest if abs(angle - nearest) < 5 else round(angle)) % 360


_BOLD = re.compile(r"bold|black|heavy|semibd|demi|cmbx|-bd|medi(?!um)")
_MONO = re.compile(r"mono(?!type)|courier|consola|typewriter|cmtt|menlo|lettergothic|ocr")
_FIXED_PITCH, _FORCE_BOLD = 1 << 0, 1 << 18


def _weight_and_width(page: Any, index: int) -> tuple[bool, bool]:
    buffer = ctypes.create_string_buffer(256)
    flags = ctypes.c_int()
    pdfium_c.FPDFText_GetFontInfo(page, index, buffer, 256, flags)
    name = buffer.value.decode("utf-8", "replace").lower()
    bold = bool(flags.value & _FORCE_BOLD) or bool(_BOLD.search(name))
    return bold, bool(flags.value & _FIXED_PITCH) or bool(_MONO.search(name))


def unmapped_share(text: pdfium.PdfTextPage) -> float:
    """The share of characters without a Unicode value of their own, from a sample of the page."""
    page = ctypes.cast(text.raw, ctypes.c_void_p)
    count = text.count_chars()
    sample = [(index, _unicode(page, index)) for index in range(0, count, max(1, count // _ERROR_SAMPLE))]
    shown = [(index, code) for index, code in sample if _NO_BLANKS.match(chr(min(code, 0xFFFD)))]
    errors = sum(
        _is_private(code) or pdfium_c.FPDFText_HasUnicodeMapError(text.raw, index) == 1 for index, code in shown
    )
    return errors / len(shown) if shown else 0.0


def _is_private(code: int) -> bool:
    return (
        0xE000 <= code < 0xF900 or code == 0xFFFD or (code < 0x20 and code not in _HYPHENS and code not in _LIGATURES)
    )
