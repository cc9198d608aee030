"""What of a page is not its content: navigation, page furniture, controls."""

from __future__ import annotations

from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from services.chunker.html.phrases import is_step

# Never text of the document, wherever they stand.
_ALWAYS: Final = ",".join(
    (
        "script,style,noscript,template,iframe,object,svg,canvas,button,select,datalist,textarea,input,dialog,nav,map",
        "audio,video,annotation,rp,[role=navigation],[role=search],[role=contentinfo],[role=menu],[role=menubar]",
        "[role=dialog],[role=alertdialog],[role=banner]:not(:has(h1))",
        "[aria-hidden=true]:not([role=tabpanel])",
        "[hidden]:not([role=tabpanel]):not([hidden='until-found'])",
        "[style*='display:none']:not([role=tabpanel],[class*=tab])",
        "[style*='display: none']:not([role=tabpanel],[class*=tab])",
        "a.headerlink,a.anchor-link,a.hash-link,a.permalink,a.header-anchor,a.heading-anchor,a.copiable-link",
        "a.anchorjs-link,a.self-link,a.selflink,.viewcode-link,.viewcode-back,a.anchor-heading,a.td-heading-self-link",
        ".mw-editsection,.sr-only,.visually-hidden,.screen-reader-text,.skip-link,.skiplink,.skip-to-content",
        ".linenos,.lineno,.line-numbers-rows,.linenodiv,.gutter,.hljs-ln-numbers,.copybtn,.copy-btn,.copy-button",
        "a[href*='_sources/'],a[href*='/edit/'],a.edit-link,a.edit-this-page,a.theme-edit-this-page",
        "a.src,a.srclink,summary.hideme,.search-results-title,div[class*=language-] > .lang",
        ".header > .summary:has(a[href^='#']):not(:has(table))",
        "table[summary='Navigation header'],table[summary='Navigation footer'],center.navheader",
    )
)
_LINK_BARS: Final = (
    "a[rel~=prev],a[rel~=next],a[title=Prev],a[title=Previous],a[title=Next],a[accesskey=p],a[accesskey=n],"
    "a[hreflang][rel~=alternate]"
)
_LONGEST_BAR = 300


def remove_furniture(tree: LexborHTMLParser) -> None:
    """Take out of `tree` what is never content: controls, scripts, navigation, permalinks, bars of links."""
    for node in tree.css(_ALWAYS):
        if node.tag == "a" and (node.id or node.attributes.get("name")):
            # What it shows goes, the place that it names stays.
            for child in list(node.iter(include_text=True)):
                child.decompose()
        elif node.tag not in ("html", "body"):
            node.decompose()
    for link in tree.css(_LINK_BARS):
        _remove_bar(link, 0.4)
    for link in tree.css("a[href]"):
        if _is_step(link):
            _remove_bar(link, 0.8)
    for menu in tree.css("ul:has(> li > a[hreflang])"):
        languages = len(menu.css("a[hreflang]"))
        if languages > 1 and languages >= 0.8 * len(menu.css("a")):
            menu.decompose()


def _is_step(link: LexborNode) -> bool:
    """Whether a link says "Previous" or "Next", alone or above the title of that page."""
    texts = (link.text(deep=True, separator="\n", strip=True) or "").split("\n")
    return is_step(texts[0]) and (len(texts) == 1 or link.css_first("span,div,p,small,strong,br") is not None)


def _remove_bar(link: LexborNode, least_share: float) -> None:
    bar = _bar_around(link, least_share)
    if bar is not None:
        bar.decompose()


def _bar_around(link: LexborNode, least_share: float) -> LexborNode | None:
    """The largest small box around a link to the previous page, the next one, or another language."""
    found = None
    node = link.parent
    for _ in range(8):
        if node is None or node.tag in ("body", "main", "article", "html"):
            break
        text = node.text(deep=True)
        if len(text) > _LONGEST_BAR or node.css_first("h1,h2,h3,pre,code") is not None:
            break
        if linked_share(node) >= least_share or len(node.css("a[hreflang]")) > 1:
            found = node
        node = node.parent
    return found


def linked_share(node: LexborNode) -> float:
    """How much of the text under `node` stands in links, from 0 to 1."""
    whole = len("".join(node.text(deep=True).split()))
    linked = sum(len("".join(link.text(deep=True).split())) for link in node.css("a"))
    return linked / whole if whole else 1.0
