"""The head of a Markdown file between `---` or `+++` lines, of which the title is wanted."""

from __future__ import annotations

import re

_FRONT_MATTER = re.compile(r"\A(---|\+\+\+)[ \t]*\n(.*?)^(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_ENTRY = re.compile(r"^[\w.-]+[ \t]*[:=]", re.MULTILINE)
_TITLE = re.compile(r"^title[ \t]*[:=][ \t]*(.+?)[ \t]*$", re.MULTILINE | re.IGNORECASE)


def split_front_matter(source: str) -> tuple[str | None, str]:
    """Return the title that the front matter gives, and the source after it."""
    found = _FRONT_MATTER.match(source)
    if not found or not _ENTRY.search(found[2]):
        return None, source
    title = _TITLE.search(found[2])
    return _unquoted(title[1]) if title else None, source[found.end() :]


def _unquoted(value: str) -> str | None:
    if value[:1] in ("'", '"') and value[-1:] == value[:1]:
        value = value[1:-1]
    return value if value not in ("|", ">", "|-", ">-") else None
