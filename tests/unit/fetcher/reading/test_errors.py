"""Error pages with status 200 are told from pages about errors."""

from __future__ import annotations

import pytest

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.fetcher.reading.examination import examined

from .conftest import NAVIGATION, SENTENCE, html_page

LONG = f"<p>{SENTENCE * 6}</p>"


def titled(title: str, body: str) -> str:
    return f"<html><head><title>{title}</title></head><body>{body}</body></html>"


@pytest.mark.parametrize(
    "html",
    [
        titled("404 Not Found", "<center><h1>404 Not Found</h1></center><hr><center>nginx</center>"),
        titled("Page not found | Example Docs", f"{NAVIGATION}<h1>Oops!</h1><p>Sorry, that page is not here.</p>"),
        titled("Example", f"{NAVIGATION}<main><h1>Page not found</h1><p>Go <a href='/'>home</a>.</p></main>"),
        titled("Error 404 (Not Found)!!1", "<p>The requested URL was not found on this server."),
        titled("Seite nicht gefunden – Beispiel", "<h1>Seite nicht gefunden</h1>"),
        titled("ページが見つかりません", "<h1>404</h1>"),
        titled("Beispiel", "<h2>500 – Internal Server Error</h2><p>Bitte später wieder.</p>"),
        titled("Access Denied", "<h1>Access Denied</h1><p>You don't have permission to access this page."),
        titled("Shop", "<h1>We’ll be back soon!</h1><p>We are performing some work."),
        titled("Site under maintenance", "<p>Come back later.</p>"),
        titled("503 Service Temporarily Unavailable", "<h1>503 Service Temporarily Unavailable</h1>"),
        titled(
            "Just a moment...", "<noscript>Enable JavaScript and cookies to continue</noscript><script>x()</script>"
        ),
        titled("site.example", "<p>Verify you are human by completing the action below.</p><script></script>"),
        titled("Attention Required! | Cloudflare", "<h1>Sorry, you have been blocked</h1>"),
    ],
)
def test_an_error_page_is_refused(html: str) -> None:
    with pytest.raises(SourceRefused) as refused:
        examined(html_page(html))
    assert refused.value.code == Code.ERROR_PAGE


@pytest.mark.parametrize(
    "html",
    [
        titled("404 Not Found - HTTP | Docs", f"{NAVIGATION}<h1>404 Not Found</h1>{LONG}"),
        titled("404 Not Found", "<h1>404 Not Found</h1><p>The server has none.</p><pre>HTTP/1.1 404 Not Found</pre>"),
        titled("How to fix “page not found” after a deployment", "<h1>How to fix it</h1><p>Write the index again.</p>"),
        titled("404 Media", "<h1>404 Media</h1><p>A magazine.</p>"),
        titled("Custom error pages", "<h1>Custom error pages</h1><p>Set the file to show for 404 and 500.</p>"),
        titled("Maintenance windows", "<h1>Maintenance windows</h1><p>They are on Sundays.</p>"),
        titled("CAPTCHA support", "<h1>CAPTCHA support in forms</h1><p>Set the key.</p>"),
        titled("Release 5.0.4", "<h1>5.0.4</h1><p>Bug fixes.</p>"),
        titled("Guide", f"<h1>Guide</h1><div hidden><h1>Something went wrong</h1></div>{LONG}"),
        titled("The security check before each release", f"<h1>Security check</h1>{LONG}"),
        titled("", ""),
    ],
)
def test_a_page_with_content_passes(html: str) -> None:
    page = html_page(html)
    assert examined(page).page == page


@pytest.mark.parametrize("name", ["Access denied", "Unauthorized", "Not Found"])
def test_a_short_page_about_an_error_passes_under_its_name_alone(name: str) -> None:
    html = titled(f"{name} | Reference", f"<h1>{name}</h1><p>The key lacks the right to read.</p>")
    url = f"https://site.example/errors/{name.lower().replace(' ', '-')}.html"
    assert examined(html_page(html, url))
    for other in (html_page(html, url, ("https://site.example/report",)), html_page(html)):
        with pytest.raises(SourceRefused):
            examined(other)


def test_a_long_apology_is_an_error_page() -> None:
    apology = (
        "<p>Sorry, the page you are looking for may have been moved. " + "Have a look at our offers of the week. " * 15
    )
    html = titled("Page not found | Shop", f"<h1>Page not found</h1>{apology}")
    with pytest.raises(SourceRefused) as refused:
        examined(html_page(html))
    assert "Page not found" in refused.value.reason


@pytest.mark.parametrize(("charset", "codec"), [("windows-1251", "cp1251"), (None, "utf-16"), ("utf-8", "utf-8")])
def test_the_charset_is_heeded(charset: str | None, codec: str) -> None:
    html = titled("Страница не найдена", "<h1>Страница не найдена</h1>").encode(codec)
    with pytest.raises(SourceRefused):
        examined(html_page(html, charset=charset))


@pytest.mark.parametrize(("media_type", "refused"), [("text/plain", False), ("application/pdf", False), (None, True)])
def test_only_html_is_looked_at(media_type: str | None, refused: bool) -> None:
    page = html_page(f"<!DOCTYPE html>{titled('404 Not Found', '')}", media_type=media_type)
    if refused:
        with pytest.raises(SourceRefused):
            examined(page)
    else:
        assert examined(page).page is page
