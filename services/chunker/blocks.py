"""The block model that every format is parsed into, and the builder that lays blocks out as one stored text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from zlib import crc32

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.encoder.tokens import count_tokens

# Postgres takes no NUL, UTF-8 no lone surrogate; the other controls carry no text. Tab and line feed stay.
_UNSTORABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufeff]")


# Names of sections and ids of elements travel with each chunk; longer ones are no names.
_NAME_LENGTH = 300


class Kind(StrEnum):
    """What a block is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    CODE = "code"
    QUOTE = "quote"


@dataclass(frozen=True, slots=True)
class Locator:
    """Where in the original a block stands: page (from 1) and its printed label, slide (from 1), or anchor id."""

    page: int | None = None
    label: str | None = None
    slide: int | None = None
    anchor: str | None = None


NOWHERE = Locator()


@dataclass(slots=True)
class Block:
    """One piece of a document. `text` is exactly the stored text from `start` to `end`, in characters.

    A list block is one item, a table block holds one row a line, a code block has its fences. `level` says what the
    block opens: 1 to 6 for the title of a section, 0 for all else. The title of a note is a heading that opens
    nothing; the title of a minor section (h4 to h6 of a page) is a paragraph that opens one.
    `heading_path` names the sections around the block, one that it opens included.
    """

    kind: Kind
    text: str
    heading_path: tuple[str, ...]
    locator: Locator
    start: int
    end: int
    level: int = 0


@dataclass(slots=True)
class Document:
    """A parsed source. `text` is what is stored: the blocks in reading order, with blank lines between them."""

    title: str | None
    media_type: str
    charset: str | None
    text: str
    blocks: list[Block]
    warnings: list[str] = field(default_factory=list)
    language: str | None = None


def storable(text: str) -> str:
    """Return `text` without characters that can't be stored; positions may be counted only after this."""
    return _UNSTORABLE.sub("", text) if _UNSTORABLE.search(text) else text


class DocumentBuilder:
    """Collects blocks in reading order; keeps the heading path, the locators and the positions in the stored text.

    A block without a locator of its own gets that of the heading above it.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._blocks: list[Block] = []
        self._length = 0
        self._path: list[tuple[int, str]] = []
        self._path_names: tuple[str, ...] = ()
        self._section = NOWHERE
        self.warnings: list[str] = []

    @property
    def words(self) -> int:
        """How many words the blocks so far hold."""
        return sum(len(block.text.split()) for block in self._blocks)

    @property
    def has_sections(self) -> bool:
        """Whether a heading has come."""
        return bool(self._path)

    def heading(self, level: int, text: str, locator: Locator | None = None, *, minor: bool = False) -> None:
        """Add a title that opens a section of `level` (1 to 6); a `minor` one is kept as a paragraph."""
        text = storable(text).strip()
        if not text:
            return
        self._path = [entry for entry in self._path if entry[0] < level]
        self._path.append((level, text[:_NAME_LENGTH]))
        self._path_names = tuple(name for _, name in self._path)
        self._section = locator or NOWHERE
        self._append(Kind.PARAGRAPH if minor else Kind.HEADING, text, self._section, level)

    def add(self, kind: Kind, text: str, locator: Locator | None = None) -> None:
        """Add a block; blank ones are dropped, line breaks around it removed."""
        text = storable(text).strip("\n").rstrip()
        if text and not text.isspace():
            self._append(kind, text, locator or self._section, 0)

    def _append(self, kind: Kind, text: str, locator: Locator, level: int) -> None:
        if locator.anchor and len(locator.anchor) > _NAME_LENGTH:
            locator = replace(locator, anchor=None)
        if self._blocks:
            tight = kind is Kind.LIST and self._blocks[-1].kind is Kind.LIST
            glue = "\n" if tight else "\n\n"
            self._pieces.append(glue)
            self._length += len(glue)
        start = self._length
        self._pieces.append(text)
        self._length = start + len(text)
        self._blocks.append(Block(kind, text, self._path_names, locator, start, self._length, level))

    def finish(self, title: str | None, media_type: str, charset: str | None) -> Document:
        """Return the document; refuse it with NO_TEXT when no block has come."""
        if not self._blocks:
            raise SourceRefused(Code.NO_TEXT, "nothing readable is left after parsing")
        return Document(
            title=" ".join(storable(title).split()) or None if title else None,
            media_type=media_type,
            charset=charset,
            text="".join(self._pieces),
            blocks=self._blocks,
            warnings=self.warnings,
        )


def pipe_row(cells: Iterable[str]) -> str:
    """Write the cells of a table's row, which hold no line break, as `| a | b |`."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def table_pieces(lines: list[str], header_lines: int, piece_bytes: int = 1200, piece_tokens: int = 450) -> list[str]:
    """Cut the lines of a table into texts of at most `piece_bytes` of UTF-8 and about `piece_tokens` of cl100k, its
    first `header_lines` atop each.

    A table cut between two pieces stays legible, and a chunk is still an exact range of the stored text. Where a piece
    that is half full ends is up to the next line's own text, so that a changed row moves few of the later pieces. A
    longer line is a piece of its own, and rows have half of each piece at least, however long the header is.
    """

    def share(line: str) -> float:
        return max((len(line.encode("utf-8", "replace")) + 1) / piece_bytes, (count_tokens(line) + 1) / piece_tokens)

    head = lines[:header_lines]
    room = max(0.5, 1 - sum(map(share, head)))
    pieces: list[str] = []
    current = list(head)
    filled = 0.0
    for line in lines[header_lines:]:
        part = share(line)
        ends = filled > room / 2 and crc32(line.encode("utf-8", "replace")) < part / room * 2**34
        if filled and (ends or filled + part > room):
            pieces.append("\n".join(current))
            current = list(head)
            filled = 0.0
        current.append(line)
        filled += part
    if current:
        pieces.append("\n".join(current))
    return pieces
