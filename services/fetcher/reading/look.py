"""What a reader would see of an HTML answer at first sight."""

from __future__ import annotations

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from services.fetcher.http.answers import Fetched
from services.fetcher.reading.markup import markup

_HIDDEN = "[hidden], [style*='display:none'], [style*='display: none'], template, svg, iframe, object, dialog"
_AROUND = "nav, header, footer, aside, [role='navigation']"
_NO_PROSE = "a, label, button, select, legend, textarea"
_DENSE = "pre, table, article p + p + p + p"
_BESIDE = re.compile(
    r"(?:^|[-_\s])(?:modal|dropdown|popup|popover|menu|nav|navbar|header|topbar|sidebar|offcanvas|dialog|widget)",
    re.IGNORECASE,
)
_BESIDE_TAGS = {"header", "nav", "aside", "footer"}
_MOST_FIELDS = 5


@dataclass(frozen=True, slots=True)
class Look:
    """All texts with single spaces.

    whole: False where only the beginning was looked at; then the texts are those of the beginning.
    base, refresh, canonicals: from the elements of the head, as they stand there.
    text: all that is shown. content: without menus, head and foot of the page. prose: also without links, buttons and
    labels. noscript: the text for browsers without scripts.
    dense: there is code, a table or an article of several paragraphs. rooted: there is an element that scripts could
    draw in. password: there is a password field, not just beside the content.
    """

    url: str
    whole: bool
    base: str | None
    refresh: str | None
    canonicals: tuple[str, ...]
    title: str
    headlines: tuple[str, ...]
    text: str
    content: str
    prose: str
    noscript: str
    scripts: bool
    dense: bool
    rooted: bool
    password: bool


def look(page: Fetched) -> Look | None:
    """A look at the page. None where it isn't HTML."""
    source = markup(page)
    if source is None:
        return None
    tree = LexborHTMLParser(source.html)
    noscript = " ".join(_text(node) for node in tree.css("noscript"))
    _drop(tree, f"noscript, {_HIDDEN}")
    return Look(
        url=page.url_final,
        whole=source.whole,
        base=_first(tree, "base[href]", "href"),
        refresh=_first(tree, "meta[http-equiv='refresh' i][content]", "content"),
        canonicals=tuple(_attribute(node, "href") for node in tree.css("link[rel~='canonical' i][href]")[:3]),
        title=_text(tree.css_first("head title")),
        headlines=_headlines(tree),
        noscript=noscript,
        scripts=source.scripts,
        dense=tree.css_first(_DENSE) is not None,
        rooted=tree.css_first("body div[id], body main[id]") is not None,
        password=any(_in_content(node) for node in tree.css("input[type='password' i]")[:_MOST_FIELDS]),
        # The last ones: the tree gets smaller by them.
        text=_text(tree.body),
        content=_text(_drop(tree, _AROUND).body),
        prose=_text(_drop(tree, _NO_PROSE).body),
    )


def _drop(tree: LexborHTMLParser, selector: str) -> LexborHTMLParser:
    for node in reversed(tree.css(selector)):  # What lies within goes before what it lies in.
        if node.tag not in {"html", "body"}:  # Some pages are hidden until their scripts run.
            node.decompose()
    return tree


def _text(node: LexborNode | None) -> str:
    return "" if node is None else " ".join(node.text(separator=" ").split())


def _attribute(node: LexborNode, name: str) -> str:
    return (node.attributes.get(name) or "").strip()


def _first(tree: LexborHTMLParser, selector: str, name: str) -> str | None:
    node = tree.css_first(selector)
    return None if node is None else _attribute(node, name) or None


def _headlines(tree: LexborHTMLParser) -> tuple[str, ...]:
    texts = [_text(node) for node in tree.css("h1")[:4]] or [_text(node) for node in tree.css("h2")[:1]]
    return tuple(text for text in texts if text)


def _in_content(node: LexborNode) -> bool:
    above = node.parent
    while above is not None and above.tag != "body":
        named = f"{above.attributes.get('class') or ''} {above.attributes.get('id') or ''}"
        if above.tag in _BESIDE_TAGS or _BESIDE.search(named):
            return False
        above = above.parent
    return True
