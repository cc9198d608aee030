"""Values as blocks: what is large becomes sections named by their keys, what is small lines of `key: value`."""

from __future__ import annotations

import re

from services.chunker.blocks import DocumentBuilder, Kind, pipe_row, storable, table_pieces
from services.chunker.data.json_values import Value
from services.chunker.data.shapes import cell_text, columns_of, few_lines, one_line, scalar, title_of

_PARAGRAPH = 1200
_DEEPEST_HEADING = 6
_LONGEST_PATH = 300
_BLANK_LINES = re.compile(r"\n\s*\n")


class Outline:
    """Writes one value into `builder`."""

    def __init__(self, builder: DocumentBuilder) -> None:
        self._builder = builder
        self._lines: list[str] = []
        self._size = 0

    def write(self, value: Value, level: int = 1, path: str = "", name: str = "") -> None:
        """Write `value` in sections from `level` down.

        `path` leads to it where headings can't go deeper; `name` is what the items of a list are called.
        """
        if isinstance(value, dict):
            self._object(value, level, path)
        elif isinstance(value, list):
            self._list(value, level, path, name)
        else:
            self._line(path, scalar(value))
        self._end_paragraph()

    def _object(self, members: dict[str, Value], level: int, path: str) -> None:
        """Small members first, then long strings, then sections: so nothing of the object falls into a section."""
        sections: list[str] = []
        strings: list[str] = []
        for key, value in members.items():
            lines = few_lines(value, _joined(path, key))
            if lines is None:
                (strings if isinstance(value, str) else sections).append(key)
                continue
            for name, text in lines:
                self._line(name, text)
        for key in strings + sections:
            self._section(key, members[key], level, path)

    def _section(self, key: str, value: Value, level: int, path: str) -> None:
        self._end_paragraph()
        if isinstance(value, str):
            self._long(_joined(path, key), value)
        elif level < _DEEPEST_HEADING:
            self._builder.heading(level, one_line(key))
            self.write(value, level + 1, name=key)
        else:
            path = _joined(path, key)
            self._builder.heading(level, one_line(path))
            self.write(value, level, path, key)

    def _list(self, values: list[Value], level: int, path: str, name: str) -> None:
        values = [value for value in values if value or value is False]
        columns = columns_of(values)
        if columns:
            self._table(columns, values)
        elif all(not isinstance(value, dict | list) for value in values):
            for value in values:
                self._item(scalar(value))
        else:
            for number, value in enumerate(values, 1):
                self._entry(value, title_of(value) or f"{name} {number}".strip(), level, path)

    def _entry(self, value: Value, title: str, level: int, path: str) -> None:
        """Write one of several items: a small one as a paragraph, a large one as a section."""
        lines = few_lines(value, "")
        if lines is None:
            self._section(title, value, level, path)
            return
        for name, text in lines:
            self._line(name, text)
        self._end_paragraph()

    def _table(self, columns: list[str], rows: list[Value]) -> None:
        self._end_paragraph()
        lines = [pipe_row(map(one_line, columns))]
        for row in rows:
            if isinstance(row, dict):
                lines.append(pipe_row(one_line(cell_text(row.get(column))) for column in columns))
        for piece in table_pieces(lines, 1):
            self._builder.add(Kind.TABLE, piece)

    def _item(self, text: str) -> None:
        if text.strip():
            self._end_paragraph()
            self._builder.add(Kind.LIST, "- " + _BLANK_LINES.sub("\n", text.strip()).replace("\n", "\n  "))

    def _line(self, name: str, text: str) -> None:
        text = storable(text).strip()
        if not text:
            return
        line = f"{one_line(name)}: {text}" if name else text
        if self._size and self._size + len(line) > _PARAGRAPH:
            self._end_paragraph()
        self._lines.append(line)
        self._size += len(line)

    def _long(self, name: str, text: str) -> None:
        """A long string: paragraphs of its own, its name in front of the first."""
        first, *others = [part for part in _BLANK_LINES.split(text.strip()) if part.strip()] or [""]
        self._line(name, first)
        self._end_paragraph()
        for part in others:
            self._builder.add(Kind.PARAGRAPH, part)

    def _end_paragraph(self) -> None:
        self._builder.add(Kind.PARAGRAPH, "\n".join(self._lines))
        self._lines.clear()
        self._size = 0


def _joined(path: str, name: str) -> str:
    whole = f"{path}.{name}" if path else name
    return whole if len(whole) <= _LONGEST_PATH else "…" + whole[-_LONGEST_PATH:]
