"""What the class and id of an element say of it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal

Said = Literal["", "furniture", "doubtful", "related", "trail", "contents"]

# Names of furniture, as whole words of a class or an id, or as their beginning where generators append a hash.
_WORDS = r"(?:^|[\s_-])(?:{})(?:$|[\s_])"
_FURNITURE: Final = re.compile(
    _WORDS.format(
        r"navheader|navfooter|nav-?bar|topnav|subnav|bottomnav|sidenav|nav-?links|nav-?buttons|nav-?panel|navigation|"
        r"sphinxsidebar\w*|toc-drawer|page-?toc|on-this-page|toc-?mobile|tocmobile\w*|toccollapsible\w*|"
        r"tableofcontents\w*|breadcrumbs?\w*|crumbs|crosslinks|navpath|nav-path|nav-?list|"
        r"footer|page-?footer|page-?header|site-?header|masthead|colophon|footer-text|titlearea|fixed-header-container|"
        r"cookies?(?:-?(?:bar|banner|consent|notice|popup|law\w*))?|gdpr\w*|consent-?(?:banner|bar|popup)|"
        r"pagination\w*|pager|prev-?next(?:-area)?|previous-?next|next-?prev\w*|pagenav|page-?nav|"
        r"edit-?(?:page|this-page|link|on-github)|page-?edit|last-?(?:updated?|modified)|page-?meta|reading-?time|"
        r"toplang|bottomlang|lang(?:uage)?-?(?:switch\w*|select\w*|toggle|menu|list|picker)|interlanguage\w*|"
        r"search-?(?:box|bar|form|results|wrapper)|searchbox|skip-?(?:nav|links?|to-?content)|"
        r"navbox\w*|catlinks|printfooter|metadata-bar|menu-?bar|mobile-?menu|back-?to-?top|jumpbox|modindex-jumpbox|"
        r"menubar|topbar|top-bar|bottom-?bar|version-?(?:switch\w*|select\w*|picker|menu|badge)|rst-versions|"
        r"click-advice|d-print-none|no-?print|hidden-print|print:hidden|mw-portlet[\w-]*|mw-jump[\w-]*|sitesub|"
        r"jump-to-nav|sitenotice|msearch\w*|md-source-file|legal-copy|page-metadata|"
        r"comments|comments-?(?:area|list|section|form|wrapper)|comment-?(?:list|respond|form)"
    ),
    re.IGNORECASE,
)
# Names that content bears as well: believed of what is short.
_DOUBTFUL: Final = re.compile(
    _WORDS.format(
        r"sidebar|side-bar|share\w*|social(?:-\w+)?|sharing|feedback[\w-]*|was-this-helpful|helpful|newsletter|"
        r"subscribe|signup|disqus\w*|(?:\w+-?)?related-?(?:posts|articles|pages)|"
        r"advert(?:isement)?s?|ad-?(?:slot|banner|container)|promo|banner|announcement\w*|toolbar|"
        r"(?:entry|post|article)-?meta|byline|posted-on"
    ),
    re.IGNORECASE,
)
_RELATED: Final = re.compile(r"(?:^|\s)related(?:$|\s)")
_TRAIL: Final = re.compile(
    r"(?:^|[\s_-])(?:path|trail|location|youarehere|you-are-here|up|langs?|languages?)(?:$|[\s_])", re.I
)
_CONTENTS: Final = re.compile(r"(?:^|[\s_-])(?:toc|table-of-contents|contents|quickview)(?:$|[\s_-])", re.IGNORECASE)
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


@lru_cache(maxsize=4096)
def name_says(names: str) -> Said:
    """What a class and an id together say of a container; "" when nothing. It is yet to be confirmed."""
    names = f"{names} {_HUMP.sub('-', names)}"
    if _FURNITURE.search(names):
        return "furniture"
    if _DOUBTFUL.search(names):
        return "doubtful"
    if _RELATED.search(names):
        return "related"
    if _TRAIL.search(names):
        return "trail"
    return "contents" if _CONTENTS.search(names) else ""
