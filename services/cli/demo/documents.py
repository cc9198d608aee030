"""The documents of the demonstration: the project's own pages, or those of a folder, or a page of the web."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from schemas.codes import Code
from services.cli.adding import is_url
from services.cli.failures import CommandFailed

PROJECT = Path(__file__).parents[3]
_WORDS_OF_A_SOURCE = 10  # a page that has less before its first section is its sections alone
_LARGEST = 20 * 2**20
_FENCE = re.compile(r"^ {0,3}(```|~~~)")


@dataclass(frozen=True, slots=True)
class Document:
    """One source. `name` is stable, so that a second run means the same source; `url` leads to the original."""

    name: str
    url: str
    title: str | None = None
    filename: str | None = None
    body: bytes | None = None
    """None: the page at `url` is fetched."""


def find_documents(where: str) -> list[Document]:
    """The documents of a folder or address, or the project's own. Raises CommandFailed(NOT_FOUND, EMPTY)."""
    if is_url(where):
        return [Document(where, where)]
    if not where:
        return list(_own())
    folder = Path(where).expanduser().absolute()
    if not folder.is_dir():
        raise CommandFailed(Code.NOT_FOUND, f"{where} is neither a folder nor an http or https address")
    found = [_whole(path) for path in sorted(folder.rglob("*")) if _is_wanted(path, folder)]
    if not found:
        raise CommandFailed(Code.EMPTY, f"{where} holds no files")
    return found


def _is_wanted(path: Path, folder: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
    return not hidden and path.is_file() and 0 < path.stat().st_size <= _LARGEST


def _whole(path: Path) -> Document:
    return Document(path.as_posix(), path.as_uri(), filename=path.name, body=path.read_bytes())


def _own() -> Iterator[Document]:
    pages = [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]
    if not all(page.is_file() for page in pages[:2]):
        raise CommandFailed(Code.NOT_FOUND, "the project's pages are not here: name a folder or an address by --docs")
    for page in pages:
        yield from _sections(page)


def _sections(path: Path) -> Iterator[Document]:
    """A page of the project as one source for each of its sections."""
    name = path.relative_to(PROJECT).as_posix()
    head, *sections = split_page(path.read_text(encoding="utf-8"))
    title_line, _, text = head.partition("\n")
    page_title = title_line.lstrip("# ").strip()
    if len(text.split()) >= _WORDS_OF_A_SOURCE:
        yield Document(name, path.as_uri(), page_title, path.name, head.encode())
    for section in sections:
        heading = section.partition("\n")[0].lstrip("# ").strip()
        title = f"{page_title}: {heading}"
        yield Document(f"{name}#{heading}", path.as_uri(), title, path.name, section.encode())


def split_page(text: str) -> list[str]:
    """The part of a Markdown page before its first `##`, and each part that begins with one."""
    parts: list[list[str]] = [[]]
    fenced = False
    for line in text.splitlines(keepends=True):
        if _FENCE.match(line):
            fenced = not fenced
        if line.startswith("## ") and not fenced:
            parts.append([])
        parts[-1].append(line)
    return ["".join(part) for part in parts]
