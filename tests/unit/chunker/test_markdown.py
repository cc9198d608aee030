from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from services.chunker.blocks import Kind
from services.chunker.markdown.page import parse_markdown
from services.chunker.markdown.scanner import PROSE, scan

SOURCES = sorted(Path(__file__).parents[4].glob("shared/data/files/md-*.md"))
SOURCE = """---
title: "The file"
---
# A *b* [c](http://x) `d_e` {#own}

Text with **marks**
on two lines.

Setext title
------------

## Same
## Same

- one
- two
  - nested

  more of two

      code in two

1. first
   ```py
   x = 1
   ```

> quoted
> # no heading

```py
# no heading

y = 1
```

| a | b |
|---|---|
| 1 | 2 |

<div><h2 id="html">From HTML</h2><p>Para <b>bold</b></p></div>

[ref]: http://example.org
"""


def test_blocks_of_a_file() -> None:
    document = parse_markdown(SOURCE, "utf-8")
    assert document.title == "The file"
    assert [(block.kind.value, block.text) for block in document.blocks] == [
        ("heading", "The file"),
        ("heading", "A b c d_e"),
        ("paragraph", "Text with **marks**\non two lines."),
        ("heading", "Setext title"),
        ("heading", "Same"),
        ("heading", "Same"),
        ("list", "- one"),
        ("list", "- two"),
        ("list", "  - nested"),
        ("list", "  more of two"),
        ("code", "code in two"),
        ("list", "1. first"),
        ("code", "```py\nx = 1\n```"),
        ("quote", "> quoted"),
        ("quote", "> # no heading"),
        ("code", "```py\n# no heading\n\ny = 1\n```"),
        ("table", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("heading", "From HTML"),
        ("paragraph", "Para bold"),
        ("paragraph", "[ref]: http://example.org"),
    ]
    anchors = [block.locator.anchor for block in document.blocks if block.kind is Kind.HEADING]
    assert anchors == [None, "own", "setext-title", "same", "same-1", "html"]


@pytest.mark.parametrize("source", ["+++\ntitle = 'T'\n+++\nx", "---\na: 1\ntitle: T\n---\n\nx", "# T\n\nx"])
def test_title(source: str) -> None:
    assert parse_markdown(source, None).title == "T"


def test_the_title_of_the_front_matter_stands_once() -> None:
    assert parse_markdown("---\ntitle: The file\n---\n# the  File\n\nx", None).text == "the  File\n\nx"


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    assert parse_markdown("---\ntext\n\n---\nmore", None).text == "text\n\nmore"


def test_nesting_beyond_the_librarys_limit_loses_no_text() -> None:
    document = parse_markdown("".join("  " * depth + f"- item {depth}\n" for depth in range(60)), None)
    assert all(f"item {depth}" in document.text for depth in range(60))


def _places(tokens: list[Token]) -> list[tuple[str, list[int], int]]:
    opened = [token for token in tokens if token.map and token.nesting >= 0 and token.type != "inline"]
    return [("paragraph_open" if token.type == PROSE else token.type, token.map or [], token.level) for token in opened]


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(SOURCE, id="small"),
        *[pytest.param(path.read_text(), id=path.name) for path in SOURCES],
        *[
            "a\n**b\n* c",
            "a\n1) b",
            "a\n12 b\n1. c",
            "a | b\n:-- | --",
            "a\n__b\n___",
            "(x\n===",
            "&x\n  ---\n",
            "a\n`b\n```\nc",
        ],
    ],
)
def test_the_rule_for_prose_finds_what_the_library_finds(source: str) -> None:
    reference = MarkdownIt("commonmark").enable("table").disable(["inline", "reference", "text_join"])
    assert _places(scan(source)) == _places(reference.parse(source))
