"""Markdown files: blocks as they stand in the source, headings without their markup."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import dedent
from typing import NamedTuple

from markdown_it.token import Token

from services.chunker.blocks import Document, DocumentBuilder, Kind, Locator, table_pieces
from services.chunker.html.page import walk_fragment
from services.chunker.markdown.front_matter import split_front_matter
from services.chunker.markdown.headings import Title, read_title
from services.chunker.markdown.scanner import PROSE, scan
from services.chunker.markdown.slugs import Slugs
from services.chunker.plaintext import unix_lines

_ONLY_A_TAG = re.compile(r"\s*(?:<!--.*-->|</?[a-zA-Z][^<>]*>)?\s*\Z", re.DOTALL)
_HEADING_MARKS = re.compile(r"^[ \t>]*#{1,6}(?:[ \t]+|$)|(?:^|[ \t]+)#+[ \t]*$")
_LEAVES = frozenset((PROSE, "paragraph_open", "fence", "code_block", "table_open", "html_block", "heading_open", "hr"))


class _Piece(NamedTuple):
    """A leaf of the block structure: its token, its lines from `start` to before `end`, and the kind of its text."""

    token: Token | None
    start: int
    end: int
    kind: Kind


def parse_markdown(text: str, charset: str | None) -> Document:
    """Parse Markdown. Raises SourceRefused(NO_TEXT) when it is blank."""
    title, source = split_front_matter(unix_lines(text))
    writer = _Writer(source.split("\n"))
    pieces = list(_pieces(scan(source)))
    if title and not any(writer.is_titled(piece, title) for piece in pieces):
        # Generators of sites show the title of the front matter above the text.
        writer.builder.heading(1, title)
    for piece in pieces:
        writer.write(piece)
    writer.write_gap(len(writer.lines))
    document = writer.builder.finish(title, "text/markdown", charset)
    if document.title is None:
        document.title = next((block.text for block in document.blocks if block.level == 1), None)
    return document


def _pieces(tokens: list[Token]) -> Iterator[_Piece]:
    """The leaves in order. The first of a list item begins where the item does, so that it has the item's mark."""
    quotes = lists = 0
    item_start: int | None = None
    for token in tokens:
        kind = token.type
        if kind == "blockquote_open":
            quotes += 1
        elif kind == "blockquote_close":
            quotes -= 1
        elif kind in ("bullet_list_open", "ordered_list_open"):
            lists += 1
        elif kind in ("bullet_list_close", "ordered_list_close"):
            lists -= 1
        elif kind == "list_item_open" and token.map:
            item_start = token.map[0] if item_start is None else item_start
        elif kind in _LEAVES and token.map:
            start = token.map[0] if item_start is None else item_start
            item_start = None
            around = Kind.LIST if lists else Kind.QUOTE if quotes else Kind.PARAGRAPH
            yield _Piece(token, start, token.map[1], around)


class _Writer:
    """Turns pieces into blocks; lines that no piece covers become paragraphs, so that nothing is lost."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.builder = DocumentBuilder()
        self._slugs = Slugs()
        self._written = 0

    def write_gap(self, until: int) -> None:
        """Put out the lines before `until` that have not been put out."""
        if until > self._written:
            self.builder.add(Kind.PARAGRAPH, self._text(self._written, until))

    def write(self, piece: _Piece) -> None:
        """Put out one piece."""
        self.write_gap(piece.start)
        self._written = max(self._written, piece.end)
        token, kind = piece.token, piece.kind
        if token is None or token.type in (PROSE, "paragraph_open"):
            self.builder.add(kind, self._text(piece.start, piece.end))
        elif token.type == "heading_open":
            self._heading(token, piece)
        elif token.type in ("fence", "code_block"):
            self.builder.add(Kind.CODE, dedent(self._text(piece.start, piece.end)))
        elif token.type == "table_open":
            for part in table_pieces(self._text(piece.start, piece.end).split("\n"), 2):
                self.builder.add(Kind.TABLE, part)
        elif token.type == "html_block" and not _ONLY_A_TAG.match(token.content):
            walk_fragment(token.content, self.builder, self._slugs)

    def is_titled(self, piece: _Piece, title: str) -> bool:
        """Whether a piece is a heading that says `title`."""
        token = piece.token
        if token is None or token.type != "heading_open" or piece.kind is not Kind.PARAGRAPH:
            return False
        return self._title(token, piece).text.casefold().split() == title.casefold().split()

    def _heading(self, token: Token, piece: _Piece) -> None:
        if piece.kind is not Kind.PARAGRAPH:
            self.builder.add(piece.kind, self._text(piece.start, piece.end))
            return
        title = self._title(token, piece)
        anchor = title.anchor or self._slugs(title.text)
        self.builder.heading(int(token.tag[1]), title.text, Locator(anchor=anchor))

    def _title(self, token: Token, piece: _Piece) -> Title:
        lines = self.lines[piece.start : piece.end]
        if token.markup in ("=", "-"):
            source = " ".join(line.strip() for line in lines[:-1])
        else:
            source = _HEADING_MARKS.sub("", lines[0]).strip()
        return read_title(source)

    def _text(self, start: int, end: int) -> str:
        return "\n".join(self.lines[start:end])
