"""Numbers as lists write them: letters, Roman numerals and the like."""

from __future__ import annotations

_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"),
    (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_LONGEST_ROMAN = 3999
_LETTERS = 26
# After z come aa, bb and so on; further rounds are written in digits.
_MOST_ROUNDS = 5


def letters(number: int) -> str:
    """Return a to z, then aa, bb and so on."""
    rounds, place = divmod(number - 1, _LETTERS)
    return chr(ord("a") + place) * (rounds + 1) if 0 <= rounds < _MOST_ROUNDS else str(number)


def roman(number: int) -> str:
    """Return a Roman numeral in small letters."""
    if not 0 < number <= _LONGEST_ROMAN:
        return str(number)
    digits = ""
    for value, sign in _ROMAN:
        digits += sign * (number // value)
        number %= value
    return digits


def written(number: int, style: str) -> str:
    """Write a number in a style of Word (lowerRoman) or PowerPoint (romanLcPeriod); digits where it is unknown."""
    name = style.lower()
    if "roman" in name:
        text = roman(number)
    elif "letter" in name or name.startswith("alpha"):
        text = letters(number)
    else:
        return f"{number:02d}" if name == "decimalzero" else str(number)
    return text.upper() if name.startswith("upper") or "uc" in name else text
