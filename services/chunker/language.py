"""The language that a text is written in, by its scripts and, where several languages share one, by a small network."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from gcld3 import NNetLanguageIdentifier  # type: ignore[import-untyped]

from services.chunker.blocks import Block, Kind

_SAMPLE = 2000
# Below, names and codes decide as much as words do.
_FEWEST_LETTERS = 20
_FEWEST_IN_WORDS = 60
_SCRIPTS = {
    "kana": re.compile("[\u3040-\u30ff]"),
    "han": re.compile("[\u3400-\u4dbf\u4e00-\u9fff]"),
    "hangul": re.compile("[\uac00-\ud7a3\u1100-\u11ff]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
    "el": re.compile("[\u0370-\u03ff\u1f00-\u1fff]"),
    "hy": re.compile("[\u0530-\u058f]"),
    "ka": re.compile("[\u10a0-\u10ff]"),
    "ta": re.compile("[\u0b80-\u0bff]"),
}
# A sign of these scripts says about as much as three letters.
_WEIGHTS = {"kana": 3, "han": 3, "hangul": 3}
# What is no word of any language: addresses, paths, numbers, names with digits, signs or capitals inside.
_NO_WORD = re.compile(r"[_@/\\=<>{}()\[\]|$#*+^~`\d]|\w[.:]\w|[a-z][A-Z]")
_RELIABLE = 0.9
_SAME = {"iw": "he", "ji": "yi", "in": "id", "nb": "no", "nn": "no", "fil": "tl", "jw": "jv"}
# The network is unsure within these pairs. Malay has words of its own; Croatian has -je- and -ije- where Serbian has
# -e-, and an infinitive where Serbian has "da".
_KIN = frozenset(("id", "ms", "sr", "hr", "bs"))
_INDONESIAN = re.compile(
    r"\b(?:bahwa|karena|bisa|berupa|tautan|berkas|sandi|situs|silakan|coba|ubah|kalian|tak|pengujian|sebuah|suatu)\b",
    re.I,
)
_MALAY = re.compile(
    r"\b(?:bahawa|kerana|ialah|iaitu|daripada|hendaklah|fail|pautan|mahu|awak|pelayan|perisian|sahaja|dibenarkan)\b",
    re.I,
)
_EKAVIAN = re.compile(
    r"\b(?:mest[aou]|primer|promen|vrem|reše|posle|gde\b|ovde|uvek|pre\b|prethodn|vredn|delov|cel[aeo]|dec[aeu]\b|svet"
    r"|sled|uslov|šta\b|zahtev|izmen|opšt|porodic|odnosno\b)|(?:mo[žg]\w+|mora\w*|treba) da\b",
    re.I,
)
_IJEKAVIAN = re.compile(
    r"[mpt]je[a-zčćžš]|[dlmrtv]ije[dčhkmlnstv]|vje[drstšž]|[dg]dje|djel|djec|sje[dćt]|ljed|tko\b|\bsmij|mij[ei]nj?",
    re.I,
)
_CYRILLIC = re.compile("[\u0400-\u04ff]")


def language_of(text: str) -> str | None:
    """Return the ISO 639-1 code of the language of `text`; None when it is short, mixed, or no prose."""
    sample = " ".join(filter(_is_word, text[:_SAMPLE].split()))
    letters = len(sample) - sample.count(" ")
    counts = {script: 0 if sample.isascii() else len(signs.findall(sample)) for script, signs in _SCRIPTS.items()}
    weights = {script: count * _WEIGHTS.get(script, 1) for script, count in counts.items()}
    if letters + sum(weights.values()) < _FEWEST_LETTERS:
        return None
    east_asian = weights["kana"] + weights["han"] + weights["hangul"]
    if 2 * east_asian > letters:
        return _east_asian(counts)
    for script in ("th", "el", "hy", "ka", "ta"):
        if 2 * counts[script] > letters:
            return script
    return _by_network(sample) if len("".join(set(sample.split()))) >= _FEWEST_IN_WORDS else None


def _is_word(word: str) -> bool:
    return not word.isascii() or (word != "|" and not _NO_WORD.search(word.strip("()[]{}<>*_`")))


def language_of_blocks(blocks: Sequence[Block]) -> str | None:
    """The language of the prose of a document, code left out: of a long one, of blocks from all over it."""
    prose = [block.text for block in blocks if block.kind is not Kind.CODE]
    step = sum(map(len, prose)) // _SAMPLE + 1
    chosen = prose[::step]
    share = _SAMPLE // min(len(chosen) or 1, 8)
    return language_of("\n".join(text[:share] for text in chosen))


def _east_asian(counts: dict[str, int]) -> str:
    if counts["hangul"] > counts["kana"] and 4 * counts["hangul"] > counts["han"]:
        return "ko"
    return "ja" if 12 * counts["kana"] > counts["han"] else "zh"


@cache
def _network() -> NNetLanguageIdentifier:
    return NNetLanguageIdentifier(0, 4 * _SAMPLE)


def _by_network(sample: str) -> str | None:
    found = _network().FindLanguage(text=sample)
    language = str(found.language)
    language = _SAME.get(language, language)
    # Latin is what a designer's filling text is taken for.
    if len(language) != 2 or language == "la" or (found.probability < _RELIABLE and language not in _KIN):
        return None
    if language in ("id", "ms"):
        return "ms" if _more(_MALAY, _INDONESIAN, sample) else "id"
    if language in _KIN and not _CYRILLIC.search(sample):
        return "hr" if _more(_IJEKAVIAN, _EKAVIAN, sample) else "sr"
    return language


def _more(first: re.Pattern[str], second: re.Pattern[str], sample: str) -> bool:
    return len(first.findall(sample)) > len(second.findall(sample))
