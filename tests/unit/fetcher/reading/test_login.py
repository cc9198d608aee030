"""Login forms in place of a page are told from pages that have one, or talk of one."""

from __future__ import annotations

import pytest

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.fetcher.reading.examination import examined

from .conftest import NAVIGATION, SENTENCE, html_page

FIELDS = '<input name="user"><input type="PASSWORD" name="p"><button>Log in</button>'
FORM = f'<form action="/session">{FIELDS}<a href="/forgot">Forgot?</a></form>'
LONG = f"<p>{SENTENCE * 20}</p>"
THREADS = "".join(f"<p><a href=/{n}>A thread about matter {n}</a></p>" for n in range(99))
WANTED = "https://site.example/handbook"


@pytest.mark.parametrize(
    ("html", "url", "redirects"),
    [
        (f"<title>Sign in</title>{NAVIGATION}<main>{FORM}</main><footer>{LONG}</footer>", WANTED, ()),
        (f"<title>Intranet</title><p>Willkommen.</p>{FORM}", WANTED, ()),
        (f"<title>Log in</title><p>{SENTENCE * 10}</p>{FORM}", WANTED, ()),
        (f"<title>x</title>{FORM}", "https://site.example/login?next=/handbook", (WANTED,)),
        (
            "<title>Sign in to your account</title><form><input type=email><button>Next</button></form>",
            "https://login.provider.example/common/oauth2/v2.0/authorize?x=1",
            (WANTED, "https://site.example/sso/start"),
        ),
        ('<div id="root"></div><script src="/a.js"></script>', "https://corp.okta.com/app/x", (WANTED,)),
        (
            '<h1>Anmelden</h1><a href="/saml">Weiter</a>',
            "https://site.example/users/sign_in",
            (WANTED,),
        ),
    ],
)
def test_a_login_form_is_refused(html: str, url: str, redirects: tuple[str, ...]) -> None:
    with pytest.raises(SourceRefused) as refused:
        examined(html_page(html, url, redirects))
    assert refused.value.code == Code.LOGIN_REQUIRED


@pytest.mark.parametrize(
    ("html", "url", "redirects"),
    [
        (f"<title>Handbook</title><header>{FORM}</header><h1>Handbook</h1><p>A short page.</p>", WANTED, ()),
        (f'<title>News</title><div class="top-nav">{FORM}</div><p>A short page.</p>', WANTED, ()),
        (f'<title>News</title><div class="login modal">{FORM}</div><p>A short page.</p>', WANTED, ()),
        (f"<title>News</title><div class=account>{FORM}</div><p>{SENTENCE * 4}</p>", WANTED, ()),
        (f"<title>News</title><div hidden>{FORM}</div><p>A short page.</p>", WANTED, ()),
        (f"<title>Login forms</title><h1>Login forms</h1>{LONG}{FORM}{LONG}", WANTED, ()),
        (f"<title>Login form</title><h1>Login form</h1>{FORM}<pre>&lt;input type=password></pre>", WANTED, ()),
        (
            "<title>Log in</title><h1>Log in</h1><p>Press the button at the top.</p>",
            "https://site.example/docs/login",
            (),
        ),
        (
            f"<title>Login</title><h1>Login</h1>{LONG}",
            "https://site.example/docs/login/",
            ("https://site.example/docs/signing-in",),
        ),
        (
            "<title>Sign in</title><h1>Sign in</h1><p>Press the button.</p>",
            "https://site.example/docs/login/",
            ("https://site.example/docs/login",),
        ),
        (
            f"<title>Forum</title>{THREADS}{FORM}",
            WANTED,
            (),
        ),
        ("<title>Handbook</title><p>Short.</p>", "https://accounts.example.org/handbook", (WANTED,)),
    ],
)
def test_a_page_beside_a_login_form_passes(html: str, url: str, redirects: tuple[str, ...]) -> None:
    page = html_page(html, url, redirects)
    assert examined(page).page == page
