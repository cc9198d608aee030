"""Characters of symbol fonts, which Word stores by their place in the font, as ordinary ones."""

from __future__ import annotations

import re
from typing import Final

_LATIN: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_GREEK: Final = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖαβχδεφγηιϕκλμνοπθρστυϖωξψζ"
_SYMBOL = dict(zip(map(ord, _LATIN), _GREEK, strict=True)) | {
    0xA2: "′", 0xA3: "≤", 0xA5: "∞", 0xAB: "↔", 0xAC: "←", 0xAD: "↑", 0xAE: "→", 0xAF: "↓", 0xB0: "°", 0xB1: "±",
    0xB2: "″", 0xB3: "≥", 0xB4: "×", 0xB6: "∂", 0xB7: "•", 0xB8: "÷", 0xB9: "≠", 0xBA: "≡", 0xBB: "≈", 0xBC: "…",
    0xC5: "⊕", 0xC6: "∅", 0xC7: "∩", 0xC8: "∪", 0xCC: "⊂", 0xCE: "∈", 0xD2: "®", 0xD3: "©", 0xD4: "™", 0xD5: "∏",
    0xD6: "√", 0xD7: "⋅", 0xDB: "⇔", 0xDE: "⇒", 0xE2: "®", 0xE3: "©", 0xE4: "™", 0xE5: "∑", 0xF2: "∫",
}  # fmt: skip
_WINGDINGS = {
    0x6C: "●", 0x6E: "■", 0x6F: "☐", 0x71: "☐", 0x72: "☐", 0x76: "❖", 0x77: "◆", 0x9F: "•", 0xA7: "▪", 0xA8: "☐",
    0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE8: "➔", 0xF0: "⇨", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒",
    0xFE: "☑",
}  # fmt: skip
_WINGDINGS_2 = {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0xA3: "☐"}
_FONTS = {"symbol": _SYMBOL, "wingdings": _WINGDINGS, "wingdings 2": _WINGDINGS_2}
# Symbol fonts are mapped to this stretch of the private use area.
_PRIVATE = re.compile("[\uf020-\uf0ff]")
_BASE = 0xF000


def symbol(code: int, font: str | None) -> str:
    """The character at a place of a font; "" when it has no counterpart."""
    place = code - _BASE if _BASE <= code < _BASE + 0x100 else code
    table = _FONTS.get((font or "").strip().lower())
    if table is not None:
        return table.get(place, chr(place) if 0x20 <= place < 0x40 and table is _SYMBOL else "")
    return chr(code) if 0x20 <= code < 0xD800 else ""


def spelled(text: str, font: str | None) -> str:
    """Replace characters of symbol fonts in `text`."""
    if text.isascii() or not _PRIVATE.search(text):
        return text
    return _PRIVATE.sub(lambda found: symbol(ord(found[0]), font), text)
