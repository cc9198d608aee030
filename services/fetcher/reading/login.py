"""Login forms that come in place of a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from services.fetcher.reading.look import Look
from services.fetcher.reading.wording import says_login

# Beside a login form there are links and a sentence; where the page calls itself one, a notice on cookies as well.
FORM_CONTENT = 300
LOGIN_CONTENT = 1_500
# A page drawn by scripts, as many of those for single sign-on are, has hardly any text.
SCRIPTED_TEXT = 200

_PATH = re.compile(
    r"/(?:[a-z]*log[-_]?[io]n|sign[-_]?in|signon|sso|saml2?|oauth2?|oidc|openid(?:-connect)?|authori[sz]e|authenticate|auth|cas"
    r"|sessions?/new|servicelogin|identifier|wp-login|anmelden|connexion|logowanie)(?=[/.?;]|$)",
    re.IGNORECASE,
)
_HOST = re.compile(
    r"^(?:[a-z0-9-]+[.-])?(?:log-?in|sign-?in|auth|sso|accounts?|idp|identity|adfs|cas|saml|oauth|openid)[0-9]*\."
    r"|\.(?:okta|auth0|onelogin|duosecurity|pingidentity|cloudflareaccess)\.",
    re.IGNORECASE,
)


def login_asked(look: Look, redirects: Sequence[str]) -> bool:
    """Whether the page is a login form, and the content, if there is any, behind it."""
    headed = any(map(says_login, (look.title, *look.headlines)))
    if look.password and not look.dense:
        limit = LOGIN_CONTENT if headed else FORM_CONTENT
        if len(look.content) <= limit:
            return True
    if redirects and _is_login_place(look.url) and not _is_login_place(redirects[0]):
        scripted = look.scripts and len(look.text) <= SCRIPTED_TEXT
        return scripted or (headed and len(look.content) <= LOGIN_CONTENT and not look.dense)
    return False


def _is_login_place(url: str) -> bool:
    parts = urlsplit(url)
    return _HOST.search(parts.hostname or "") is not None or _PATH.search(parts.path) is not None
