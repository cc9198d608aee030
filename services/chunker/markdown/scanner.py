"""Where the blocks of a Markdown source begin and end. Inline markup is not looked at: the stored text keeps it."""

from __future__ import annotations

import re
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

PROSE = "prose"
# How a line can begin that opens no other block and underlines no heading or table.
_PROSE_LINE = re.compile(
    r"""[^\W\d_]|[^\x00-\x7f]|["'(\[\\!@$%&/.,;?^{}]|`(?!``)|\*{1,2}[^\W_]|_{1,2}[^\W_]|\d+(?![\d.)])|:[ \t]+[^\W_]"""
)


@cache
def _blocks() -> MarkdownIt:
    scanner = MarkdownIt("commonmark").enable("table")
    # Reference definitions leave no token behind; as paragraphs they stay in the text.
    scanner.disable(["inline", "reference", "text_join"])
    scanner.block.ruler.before("table", PROSE, _prose)
    return scanner


@cache
def _whole() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("strikethrough")


def scan(source: str) -> list[Token]:
    """Return the block tokens of `source`, whose line ends must be line feeds; `map` holds the lines of each."""
    return _blocks().parse(source)


def inline_tokens(text: str) -> list[Token]:
    """Return the inline tokens of one line."""
    parsed = _whole().parseInline(text)
    return (parsed[0].children or []) if parsed else []


def _prose(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A paragraph none of whose lines begins as any other block does: no rule can claim or end it, so none is asked.

    It gives one token where the library gives three, and makes the scan about twice as fast.
    """
    if silent or state.is_code_block(start):
        return False
    source, begins, ends, shifts = state.src, state.bMarks, state.eMarks, state.tShift
    line = start
    while line < end:
        position = begins[line] + shifts[line]
        if position >= ends[line]:
            break
        if not _PROSE_LINE.match(source, position):
            return False
        line += 1
    state.line = line
    state.push(PROSE, "", 0).map = [start, line]
    return True
