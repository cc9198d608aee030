"""Lays paragraphs and tables out as blocks: lists with their markers, code in fences, tables as rows of pipes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from services.chunker.blocks import DocumentBuilder, Kind, Locator, table_pieces
from services.chunker.html.code import fenced
from services.chunker.office.content import Item, Paragraph, Table
from services.chunker.office.tables import table_lines

_BLANKS = re.compile(r"[^\S\t\n]+")
_WIDTHLESS = re.compile("[\u200b\u2060\u00ad]")
_CODE_SIGNS = re.compile(r"[{}\[\]=<>*$|\\_#`]|\w\(|;$", re.MULTILINE)
_DEEPEST_HEADING = 6


def write(builder: DocumentBuilder, items: Sequence[Item], locator: Locator | None = None) -> None:
    """Add `items` to the document; `locator` says where they are."""
    for kind, run in groupby(items, _code_like):
        members = list(run)
        if kind and (kind == "style" or _is_code(members)):
            text = "\n".join(item.text for item in members if isinstance(item, Paragraph)).replace("\xa0", " ")
            if text.strip():
                builder.add(Kind.CODE, fenced(text.strip("\n").rstrip(), ""), locator)
            continue
        for item in members:
            if isinstance(item, Table):
                _write_table(builder, item, locator)
            else:
                _write_paragraph(builder, item, locator)


def _write_table(builder: DocumentBuilder, table: Table, locator: Locator | None) -> None:
    lined = table_lines(table)
    if lined is not None:
        for piece in table_pieces(*lined):
            builder.add(Kind.TABLE, piece, locator)
        return
    for row in table.rows:
        for cell in row.cells:
            write(builder, cell, locator)


def _code_like(item: Item) -> str | None:
    if isinstance(item, Table) or item.marker or item.level:
        return None
    return "style" if item.kind is Kind.CODE else "mono" if item.mono else None


def _is_code(items: Sequence[Item]) -> bool:
    """Whether paragraphs in a font of fixed width are code and not prose: nearly each line has signs of code."""
    text = "\n".join(item.text for item in items if isinstance(item, Paragraph))
    lines = sum(1 for line in text.split("\n") if line.strip())
    return len(_CODE_SIGNS.findall(text)) >= max(2, lines)


def _write_paragraph(builder: DocumentBuilder, item: Paragraph, locator: Locator | None) -> None:
    text = tidy(item.text)
    if not text:
        return
    if item.level:
        builder.heading(min(item.level, _DEEPEST_HEADING), " ".join(text.split()), locator)
    elif item.marker:
        indent = "  " * item.depth
        inner = "\n" + indent + " " * (len(item.marker) + 1)
        builder.add(Kind.LIST, f"{indent}{item.marker} {text}".replace("\n", inner), locator)
    else:
        builder.add(item.kind, text, locator)


def tidy(text: str) -> str:
    """Collapse blanks within each line and drop blank lines; tabs stay, as they set columns apart."""
    lines = (_BLANKS.sub(" ", line).strip() for line in _WIDTHLESS.sub("", text).split("\n"))
    return "\n".join(filter(None, lines))
