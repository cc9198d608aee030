"""Tables of data as rows of pipes; tables that only lay out a page are told apart."""

from __future__ import annotations

from typing import Final

from selectolax.lexbor import LexborNode

from services.chunker.html.inline import flow_text

_LAYOUT_SIGNS: Final = "table,h1,h2,h3,h4,h5,h6,pre,blockquote,p + p + p"
_LONGEST_CELL = 2000


def table_rows(table: LexborNode) -> tuple[list[list[str]], int] | None:
    """Return the cells row by row and the number of header rows, or None when the table is layout."""
    if any(node.mem_id != table.mem_id for node in table.css(_LAYOUT_SIGNS)):
        return None
    rows: list[list[str]] = []
    header_rows = 0
    for row in table.css("tr"):
        cells = [cell for cell in row.iter() if cell.tag in ("td", "th")]
        texts = [flow_text(cell) for cell in cells]
        if not any(texts):
            continue
        if any(len(text) > _LONGEST_CELL for text in texts):
            return None
        if len(rows) == header_rows and all(cell.tag == "th" for cell in cells):
            header_rows += 1
        rows.append(texts)
    if max(map(len, rows), default=0) < 2:
        return None
    return rows, header_rows if header_rows < len(rows) and header_rows <= 2 else 0


def caption(table: LexborNode) -> str:
    """The caption of the table, or ""."""
    node = table.css_first("caption")
    return flow_text(node) if node is not None else ""
