"""Pages that lead on by a meta element."""

from __future__ import annotations

import pytest

from services.fetcher.reading.refresh import refreshed_to

from .conftest import SENTENCE, html_page


def meta(content: str, name: str = "refresh") -> str:
    return f'<head><meta http-equiv="{name}" content="{content}"></head>'


@pytest.mark.parametrize(
    ("html", "target"),
    [
        (meta("0; url=/new"), "https://site.example/new"),
        (meta("0;URL='new'", "Refresh"), "https://site.example/docs/new"),
        (meta("5, https://other.example/a?x=1&amp;y=2"), "https://other.example/a?x=1&y=2"),
        (meta("0.5;url = //other.example/a"), "https://other.example/a"),
        (meta("; url=new"), "https://site.example/docs/new"),
        (f'<base href="/v2/">{meta("0; url=new")}', "https://site.example/v2/new"),
        (
            meta("0; url=new") + "<p>Redirecting to <a href=new>new</a>. If it does not, follow the link.</p>",
            "https://site.example/docs/new",
        ),
    ],
)
def test_a_page_that_leads_on(html: str, target: str) -> None:
    assert refreshed_to(html_page(html)) == target


@pytest.mark.parametrize(
    "html",
    [
        meta("6; url=/new"),
        meta("0"),
        meta(""),
        meta("soon; url=/new"),
        meta("0; url=javascript:x()"),
        meta("0; url=https://user:secret@other.example/"),
        meta("0; url=/docs/page#part"),
        meta("0; url=/new", "x-refresh"),
        f"<noscript>{meta('0; url=/no-script')}</noscript>",
        f"<!-- {meta('0; url=/new')} -->",
        f"{meta('0; url=/new')}<p>{SENTENCE * 5}</p>",
    ],
)
def test_a_page_that_stays(html: str) -> None:
    assert refreshed_to(html_page(html)) is None
