"""Pages as they come from a fetch."""

from __future__ import annotations

from services.fetcher.http.answers import Fetched

SENTENCE = "The setting chooses how many connections a process opens, and a larger one needs more memory. "
NAVIGATION = "<nav>" + "".join(f'<a href="/{n}">Chapter number {n}</a> ' for n in range(200)) + "</nav>"


def html_page(
    html: str | bytes,
    url: str = "https://site.example/docs/page",
    redirects: tuple[str, ...] = (),
    media_type: str | None = "text/html",
    charset: str | None = "utf-8",
) -> Fetched:
    """A page with the validator "1"."""
    body = html if isinstance(html, bytes) else html.encode()
    return Fetched(url, 200, media_type, charset, body, "", '"1"', None, redirects)
