"""Error pages that come with a status of success."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from services.fetcher.reading.look import Look
from services.fetcher.reading.wording import error_name, says_missing

# An error page has a sentence or two of its own; a page about an error has more, or code, or a table.
SHORT_PROSE = 350
# Some errors come with a longer apology, which speaks to the reader.
LONG_PROSE = 1_200
# Bot challenges are short whatever they say.
SHORT_TEXT = 800

_APOLOGY = re.compile(
    r"\bsorry\b|\byou(?:['’]re| are| were|['’]ve| have)? (?:looking for|requested|tried|followed|typed|entered)"
    r"|may have (?:been )?(?:moved|deleted|removed)|check the (?:url|address|spelling)"
    r"|\bleider\b|\bdésolé|\blo sentimos\b|\bspiacenti\b",
    re.IGNORECASE,
)
_CHALLENGE = re.compile(
    r"enable javascript and cookies to continue|unusual traffic from your"
    r"|please (?:turn|enable) javascript on and reload"
    r"|verif(?:y|ying)(?: that)? you(?:['’]re| are) (?:a )?(?:human|not a (?:ro)?bot)"
    r"|checking (?:if the site connection is secure|your browser before)"
    r"|needs to review the security of your connection|complete the (?:captcha|security check)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")


def error_shown(look: Look, redirected: bool) -> str | None:
    """The words by which the page says that it is none, None for a page with content."""
    if len(look.text) <= SHORT_TEXT and (found := _CHALLENGE.search(f"{look.text} {look.noscript}")):
        return found[0]
    names = [name for line in (look.title, *look.headlines) if (name := error_name(line))]
    if not names or look.dense or (not redirected and _is_subject(names[0], look.url)):
        return None
    if len(look.prose) <= SHORT_PROSE:
        return names[0]
    if len(look.prose) > LONG_PROSE or not _APOLOGY.search(look.prose):
        return None
    return names[0] if says_missing(look.title) and any(map(says_missing, look.headlines)) else None


def _is_subject(name: str, url: str) -> bool:
    """Whether the page was asked for by the error's name, as one about it is."""
    last = unquote(urlsplit(url).path).rstrip("/").rpartition("/")[2].lower()
    words = [word for word in _WORD.findall(name.lower()) if not word.isdigit()]
    return bool(words) and set(words) <= set(_WORD.findall(last))
