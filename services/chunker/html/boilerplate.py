"""What of a page is not its content: navigation, page furniture, controls."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

# Never text of the document, wherever they stand.
_ALWAYS: Final = ",".join(
    (
        "script,style,noscript,template,iframe,object,svg,canvas,button,select,datalist,textarea,input,dialog,nav,map",
        "audio,video,annotation,rp,[role=navigation],[role=search],[role=contentinfo],[role=menu],[role=menubar]",
        "[role=dialog],[role=alertdialog],[role=banner]:not(:has(h1)),[aria-hidden=true]",
        "[hidden]:not([role=tabpanel]):not([hidden='until-found'])",
        "[style*='display:none'],[style*='display: none']",
        "a.headerlink,a.anchor-link,a.hash-link,a.permalink,a.header-anchor,a.heading-anchor,a.copiable-link",
        "a.anchorjs-link,a.self-link,a.selflink,a.viewcode-link,a.viewcode-back,a.anchor-heading,a.td-heading-self-link",
        ".mw-editsection,.sr-only,.visually-hidden,.screen-reader-text,.skip-link,.skiplink,.skip-to-content",
        ".linenos,.lineno,.line-numbers-rows,.linenodiv,.gutter,.hljs-ln-numbers,.copybtn,.copy-btn,.copy-button",
        "a[href*='_sources/'],a[href*='/edit/'],a.edit-link,a.edit-this-page,a.theme-edit-this-page",
        "table[summary='Navigation header'],table[summary='Navigation footer'],center.navheader",
    )
)
# Names of furniture, as whole words of a class or an id, or as their beginning where generators append a hash.
_WORDS = r"(?:^|[\s_-])(?:{})(?:$|[\s_])"
_FURNITURE = re.compile(
    _WORDS.format(
        r"navheader|navfooter|nav-?bar|topnav|subnav|bottomnav|sidenav|nav-?links|nav-?buttons|nav-?panel|navigation|"
        r"sphinxsidebar\w*|toc-drawer|page-?toc|on-this-page|toc-?mobile|tocmobile\w*|toccollapsible\w*|"
        r"tableofcontents\w*|breadcrumbs?\w*|crumbs|crosslinks|navpath|nav-path|"
        r"footer|page-?footer|page-?header|site-?header|masthead|colophon|footer-text|titlearea|"
        r"cookies?(?:-?(?:bar|banner|consent|notice|popup|law\w*))?|gdpr\w*|consent-?(?:banner|bar|popup)|"
        r"pagination\w*|pager|prev-?next(?:-area)?|previous-?next|next-?prev\w*|pagenav|page-?nav|"
        r"edit-?(?:page|this-page|link|on-github)|page-?edit|last-?(?:updated?|modified)|page-?meta|"
        r"toplang|bottomlang|lang(?:uage)?-?(?:switch\w*|select\w*|toggle|menu|list|picker)|interlanguage\w*|"
        r"search-?(?:box|bar|form|results|wrapper)|searchbox|skip-?(?:nav|links?|to-?content)|"
        r"navbox\w*|catlinks|printfooter|metadata-bar|menu-?bar|mobile-?menu|back-?to-?top|jumpbox|modindex-jumpbox|"
        r"menubar|topbar|top-bar|bottom-?bar|version-?(?:switch\w*|select\w*|picker|menu)|rst-versions|click-advice"
    ),
    re.IGNORECASE,
)
# Names that content bears as well: believed of what is short.
_DOUBTFUL = re.compile(
    _WORDS.format(
        r"sidebar|side-bar|share|social(?:-\w+)?|sharing|feedback[\w-]*|was-this-helpful|helpful|newsletter|subscribe|"
        r"signup|comments?-?(?:area|list|section|form)|disqus\w*|related-?(?:posts|articles|pages)|"
        r"advert(?:isement)?s?|ad-?(?:slot|banner|container)|promo|banner|announcement\w*|toolbar"
    ),
    re.IGNORECASE,
)
_RELATED = re.compile(r"(?:^|\s)related(?:$|\s)")
_ASIDE_OF_TEXT = re.compile(r"footnote|topic|admonition|note|callout")
_TRAIL = re.compile(
    r"(?:^|[\s_-])(?:path|trail|location|youarehere|you-are-here|up|langs?|languages?)(?:$|[\s_])", re.I
)
_CONTENTS = re.compile(r"(?:^|[\s_-])(?:toc|table-of-contents|contents|quickview)(?:$|[\s_-])", re.IGNORECASE)
_CONTAINER_NAMES = "div section header footer aside ul ol p table form figure span center details dl address"
_CONTAINERS = frozenset(_CONTAINER_NAMES.split())
_LINK_BARS: Final = "a[rel~=prev],a[rel~=next],a[accesskey=p],a[accesskey=n],a[hreflang][rel~=alternate]"
_LONGEST_BAR = 300


def remove_furniture(tree: LexborHTMLParser) -> None:
    """Take out of `tree` what is never content: controls, scripts, navigation, permalinks, bars of links."""
    for node in tree.css(_ALWAYS):
        node.decompose()
    for link in tree.css(_LINK_BARS):
        bar = _bar_around(link)
        if bar is not None:
            bar.decompose()
    for menu in tree.css("ul:has(> li > a[hreflang])"):
        languages = len(menu.css("a[hreflang]"))
        if languages > 1 and languages >= 0.8 * len(menu.css("a")):
            menu.decompose()


def _bar_around(link: LexborNode) -> LexborNode | None:
    """The largest small box around a link to the previous page, the next one, or another language."""
    found = None
    node = link.parent
    for _ in range(8):
        if node is None or node.tag in ("body", "main", "article", "html"):
            break
        text = node.text(deep=True)
        if len(text) > _LONGEST_BAR or node.css_first("h1,h2,h3,pre,code") is not None:
            break
        if _linked_share(node) >= 0.4 or len(node.css("a[hreflang]")) > 1:
            found = node
        node = node.parent
    return found


def _linked_share(node: LexborNode) -> float:
    whole = len("".join(node.text(deep=True).split()))
    linked = sum(len("".join(link.text(deep=True).split())) for link in node.css("a"))
    return linked / whole if whole else 1.0


@lru_cache(maxsize=4096)
def _name_says(names: str) -> str:
    """What a class and an id together say of a container, for `_confirmed`; "" when nothing."""
    if _FURNITURE.search(names):
        return "furniture"
    if _DOUBTFUL.search(names):
        return "doubtful"
    if _RELATED.search(names):
        return "related"
    if _TRAIL.search(names):
        return "trail"
    return "contents" if _CONTENTS.search(names) else ""


def is_furniture(node: LexborNode, tag: str, classes: str | None, identifier: str | None) -> bool:
    """Whether a container within the content is furniture by its name, and neither holds a title nor much text."""
    if tag not in _CONTAINERS:
        return False
    if tag in ("footer", "aside", "header") and _is_furniture_by_tag(node, tag):
        return True
    if not classes and not identifier:
        return False
    return _confirmed(_name_says(f"{classes or ''} {identifier or ''}"), node, tag)


def _confirmed(said: str, node: LexborNode, tag: str) -> bool:
    """Whether a container is what its name says: see `_name_says`."""
    match said:
        case "furniture":
            return node.css_first("h1") is None
        case "doubtful":
            return node.css_first("h1,p + p + p,dl,pre,.sidebar-title") is None
        case "related":
            return tag == "div"
        case "trail":
            return len(node.text(deep=True)) <= _LONGEST_BAR and _mostly_links(node)
        case "contents":
            return is_page_index(node, 0.5)
    return False


def _mostly_links(node: LexborNode) -> bool:
    return node.css_first("a") is not None and _linked_share(node) >= 0.5


def _is_furniture_by_tag(node: LexborNode, tag: str) -> bool:
    parent = node.parent
    if tag == "footer":
        return parent is None or parent.tag != "blockquote"
    if tag == "aside":
        return _mostly_links(node) and not _ASIDE_OF_TEXT.search(node.attributes.get("class") or "")
    return parent is not None and parent.tag in ("body", "div") and _heads_the_site(node)


def _heads_the_site(header: LexborNode) -> bool:
    """Whether a header has no title in it and is no part of an article."""
    if header.css_first("h1,h2,h3") is not None:
        return False
    node = header.parent
    while node is not None and node.tag != "body":
        if node.tag in ("main", "article", "section"):
            return False
        node = node.parent
    return True


def is_page_index(node: LexborNode, least_share: float = 0.8) -> bool:
    """Whether `node` lists links to places of the page itself and little else: the headings say the same again."""
    links = node.css("a[href]")
    if len(links) < 2:
        return False
    linked = 0
    for link in links:
        if not (link.attributes.get("href") or "").startswith("#"):
            return False
        linked += len("".join(link.text(deep=True).split()))
    return linked >= least_share * len("".join(node.text(deep=True).split()))
