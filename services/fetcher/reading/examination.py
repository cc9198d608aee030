"""Whether an answer with a status of success is the page that was asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.fetcher.http.answers import Fetched
from services.fetcher.reading.canonical import canonical_url
from services.fetcher.reading.errors import error_shown
from services.fetcher.reading.login import login_asked
from services.fetcher.reading.look import Look, look

# The text of a shell is at most that it is loading.
SHELL_TEXT = 200


class Examined(NamedTuple):
    """A page with its canonical URL. by_scripts: only a browser would draw its content."""

    page: Fetched
    by_scripts: bool


def examined(page: Fetched) -> Examined:
    """The page after a light look at it. Other types than HTML pass as they are.

    Raises SourceRefused(LOGIN_REQUIRED, ERROR_PAGE).
    """
    seen = look(page)
    if seen is None:
        return Examined(page, by_scripts=False)
    if seen.whole:
        _refuse(seen, page)
    url = canonical_url(seen)
    if url != page.url_final:
        # Validators are sent back only to the URL that they are stored with, which is no longer the one they came from.
        page = replace(page, url_final=url, etag=None, last_modified=None)
    return Examined(page, by_scripts=seen.whole and _is_shell(seen))


def _refuse(seen: Look, page: Fetched) -> None:
    if login_asked(seen, page.redirects):
        raise SourceRefused(Code.LOGIN_REQUIRED, f"{page.url_final} shows a login form.")
    words = error_shown(seen, redirected=bool(page.redirects))
    if words is not None:
        raise SourceRefused(Code.ERROR_PAGE, f'{page.url_final} shows an error: "{words[:200]}".')


def _is_shell(seen: Look) -> bool:
    if not seen.scripts or len(seen.text) > SHELL_TEXT:
        return False
    return seen.rooted or not seen.text or "javascript" in seen.noscript.lower()
