import pytest

from services.chunker.blocks import Document, Kind
from services.chunker.html.page import parse_html


def page(body: str) -> Document:
    return parse_html(f"<!doctype html><html><head></head><body>{body}</body></html>", "utf-8")


def texts(document: Document) -> list[str]:
    return [block.text for block in document.blocks]


def headings(document: Document) -> list[tuple[str, str | None]]:
    return [(block.text, block.locator.anchor) for block in document.blocks if block.kind is Kind.HEADING]


@pytest.mark.parametrize(
    ("markup", "anchor"),
    [
        ("<h2 id=own>T</h2>", "own"),
        ("<h2><a name=inner></a>T</h2>", "inner"),
        ("<h2><a id=inner>T</a></h2>", "inner"),
        ("<section id=wrap><h2>T</h2><p>x</section>", "wrap"),
        ("<div class=sect1 id=wrap><div><div><h2>T</h2></div></div><p id=p>x</div>", "wrap"),
        ("<div id=wrap><span id=label></span><h2>T</h2></div>", "wrap"),
        ("<p>before</p><a id=empty></a><h2>T</h2>", "empty"),
        ("<section id=earlier><p>text</p><h2>T</h2></section>", "earlier"),
    ],
)
def test_anchor_of_a_heading(markup: str, anchor: str) -> None:
    assert headings(page(f"<main id=all><h1 id=top>Page</h1>{markup}</main>"))[1] == ("T", anchor)


def test_a_heading_without_any_id_has_that_of_the_heading_above() -> None:
    document = page("<main><h1 id=top>Page</h1><p>x</p><h2>T</h2><p>y</p></main>")
    assert headings(document) == [("Page", "top"), ("T", "top")]
    assert {block.locator.anchor for block in document.blocks} == {"top"}


@pytest.mark.parametrize(
    "link",
    [
        '<a class="headerlink" href="#t" title="Permalink">¶</a>',
        '<a href="#t">#</a>',
        '<a class="hash-link" href="#t">\u200b</a>',
        '<a href="#t" aria-hidden="true"><svg></svg></a>',
    ],
)
def test_permalinks_are_no_part_of_a_heading(link: str) -> None:
    assert headings(page(f"<main><h1 id=t>Title{link}</h1><p>x</p></main>")) == [("Title", "t")]


@pytest.mark.parametrize(
    "furniture",
    [
        "<nav>GONE</nav>",
        "<header role=banner>GONE</header>",
        "<footer>GONE</footer>",
        "<div class='breadcrumbs'><a href=/>GONE</a> » here GONE</div>",
        "<div class='sphinxsidebar'><p>GONE</p></div>",
        "<div class='cookie-banner'>We use cookies GONE</div>",
        "<div id='cookieConsent' class='cookie-consent'>GONE</div>",
        "<div class='navfooter'><table><tr><td>Prev GONE</td><td>Next GONE</td></tr></table></div>",
        "<p><a rel=prev href=a>GONE</a> | <a rel=next href=b>Next</a></p>",
        "<p>Languages: <a hreflang=de rel=alternate href=x>GONE</a> <a hreflang=fr rel=alternate href=y>fr</a></p>",
        "<ul><li><a hreflang=de href=x>GONE</a></li><li><a hreflang=fr href=y>GONE</a></li></ul>",
        "<ul><li><a href='#a'>GONE</a></li><li><a href='#b'>GONE too</a></li></ul>",
        "<div class='toc'><p>Contents</p><a href='#a'>GONE</a> <a href='#b'>GONE too and more text</a></div>",
        "<form role=search><label>GONE</label><input></form>",
        "<select><option>GONE</option></select><button>GONE</button>",
        "<div hidden>GONE</div><div style='display: none'>GONE</div>",
        "<script>GONE</script><style>GONE</style><noscript>GONE</noscript>",
        "<a class='edit-this-page' href='/edit/main/x.md'>GONE</a>",
    ],
)
@pytest.mark.parametrize("within", ["<main>{}</main>", "<div>{}</div>"])
def test_furniture_is_left_out(furniture: str, within: str) -> None:
    content = "<h1 id=a>Title</h1><p id=b>The text of the page, long enough to be its main part.</p>"
    assert "GONE" not in page(within.format(furniture + content + furniture)).text


def test_what_is_only_named_like_furniture_stays() -> None:
    document = page(
        "<div class='page has-sidebar no-footer'><h1>Title</h1><div class='sidebar-layout'><p>a</p><p>b</p><p>c</p>"
        "</div><table class='related'><tr><th>x</th><th>y</th></tr><tr><td>kept</td><td>2</td></tr></table></div>"
    )
    assert texts(document) == ["Title", "a", "b", "c", "| x | y |\n| kept | 2 |"]


def test_an_index_of_other_pages_stays() -> None:
    assert (
        "Chapter one"
        in page("<div class=toc><ul><li><a href=a.html>Chapter one</a><li><a href=b.html>Two</a></ul></div>").text
    )


def test_the_title_of_a_note_opens_no_section() -> None:
    document = page("<main><h1>T</h1><div class=note><h3>Note</h3><p>Mind this.</p></div><p>On.</p></main>")
    assert [block.heading_path for block in document.blocks] == [("T",)] * 4
    assert [block.level for block in document.blocks] == [1, 0, 0, 0]


def test_code_keeps_lines_and_names_its_language() -> None:
    document = page(
        "<main><div class='highlight-python'><pre>\n<span>def</span> f():\n    return 1\n</pre></div>"
        "<pre class='language-sh'><code><span class=token-line>a<br></span>"
        "<span class=token-line>b<br></span></code></pre>"
        "<pre><code><div>x</div><div>y</div></code></pre></main>"
    )
    assert texts(document) == ["```python\ndef f():\n    return 1\n```", "```sh\na\nb\n```", "```\nx\ny\n```"]


def test_lists_are_one_block_an_item() -> None:
    document = page(
        "<main><p>Lead</p><ul><li>one<li><p>two</p><p>more</p><ol start=3><li>three<li>four</ol></ul></main>"
    )
    assert texts(document)[1:] == ["- one", "- two", "  more", "  3. three", "  4. four"]
    assert document.text.endswith("- one\n- two\n  more\n  3. three\n  4. four")


def test_tables_of_data_become_rows_and_layout_is_walked() -> None:
    document = page(
        "<main><table><caption>Cap</caption><tr><th>a<th>b|c<tr><td>1<td>two <b>words</b><br>here</table>"
        "<table><tr><td><h2>Left</h2><p>l</p></td><td><p>r</p></td></tr></table></main>"
    )
    assert texts(document) == ["Cap", "| a | b\\|c |\n| 1 | two words here |", "Left", "l", "r"]


def test_white_space_is_as_in_a_browser() -> None:
    document = page("<main><p>a\n  b<b>c</b> <i> d</i>&nbsp;e<br>f\u200bg</p><div>loose <p>own</p> tail</div></main>")
    assert texts(document) == ["a bc d e\nfg", "loose", "own", "tail"]


def test_terms_locate_what_defines_them() -> None:
    document = page("<main><h1 id=api>API</h1><dl><dt id=f>f(x)</dt><dd><p>Does f.</p></dd></dl><p>After.</p></main>")
    assert [block.locator.anchor for block in document.blocks] == ["api", "f", "f", "api"]


def test_deep_nesting_is_walked() -> None:
    assert page("<div>" * 3000 + "deep" + "</div>" * 3000).text == "deep"


def test_a_page_without_headings_is_headed_by_its_title() -> None:
    source = "<title>The\n page</title><body><p id=a>text</p>{}</body>"
    document = parse_html(source.format(""), "utf-8")
    assert (document.title, headings(document)) == ("The page", [("The page", "a")])
    assert headings(parse_html(source.format("<h2>Own</h2>"), "utf-8")) == [("Own", "a")]


def test_what_has_most_of_the_text_is_no_furniture_whatever_its_name() -> None:
    prose = "<p>" + "Words of the text. " * 200 + "</p>"
    assert "Words" in page(f"<div class='navigation-layout'><h2>T</h2>{prose}</div><p>Other text.</p>").text


@pytest.mark.parametrize(
    "chatter",
    ["Last updated on 3 May 2024", "Was this page helpful?", "Edit this page on GitHub", "5 min read", "On this page"],
)
def test_what_a_page_says_of_itself_is_left_out(chatter: str) -> None:
    document = page(f"<main><h1>T</h1><p>{chatter}</p><p>Text.</p><ul><li>{chatter}</li></ul></main>")
    assert texts(document) == ["T", "Text.", f"- {chatter}"]


@pytest.mark.parametrize(
    "steps",
    [
        "<div><a href=a><b>Previous</b><span>GONE</span></a><a href=b><b>Next</b><span>GONE</span></a></div>",
        "<p><a href=a>« Zurück</a> | <a href=b>Weiter »</a></p>",
        "<div><a href=a>上一页</a> <a href=b>下一页</a></div>",
    ],
)
def test_steps_to_other_pages_are_left_out(steps: str) -> None:
    content = "<h1>T</h1><p>Read the <a href=c>next</a> chapter, or go <a href=d>back</a> to the first of them.</p>"
    assert texts(page(f"<main>{content}{steps}</main>")) == [
        "T",
        "Read the next chapter, or go back to the first of them.",
    ]


def test_a_page_hidden_until_its_scripts_run_is_read() -> None:
    source = "<html class=sr-only><body style='display:none' aria-hidden=true><h1>T</h1><p>Text.</p></body></html>"
    assert parse_html(source, None).text == "T\n\nText."


def test_code_in_lines_that_are_boxes() -> None:
    document = page(
        "<main><div class=fragment><div class=line><span class=lineno>1</span>int x;</div><div class=line>  y();</div>"
        "</div></main>"
    )
    assert texts(document) == ["```\nint x;\n  y();\n```"]


def test_links_above_the_title_are_navigation() -> None:
    menu = "<ul>" + "".join(f"<li><a href={n}.html>Page {n}</a></li>" for n in range(5)) + "</ul>"
    assert texts(page(f"{menu}<h1>T</h1><p>Text.</p><ul><li><a href=x.html>More</a></li></ul>")) == [
        "T",
        "Text.",
        "- More",
    ]
