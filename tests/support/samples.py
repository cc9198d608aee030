"""The shared sample files, and their list of what must be found, left out or refused."""

from __future__ import annotations

import csv
import unicodedata
from pathlib import Path

FILES = Path(__file__).parents[3] / "shared/data/files"
_LIST = FILES / "manifest.tsv"


def listed(*prefixes: str) -> list[dict[str, str]]:
    """Rows of the list whose file begins with one of the prefixes, all without one; none where there are no samples."""
    if not _LIST.exists():
        return []
    with _LIST.open(newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [row for row in rows if row["file"].startswith(prefixes or "")]


def squeezed(text: str) -> str:
    """The text as the list's phrases are compared with it."""
    return " ".join(unicodedata.normalize("NFKC", text).split())
