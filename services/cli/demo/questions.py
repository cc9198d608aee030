"""Questions that suit the documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

OWN = (
    "What happens when a process is killed after it has published an event but before it commits the offset?",
    "How can I bring dead letters back after a fix?",
    "Why is a text not embedded a second time when only the title of the page moved?",
    "Which header carries the revision of a source?",
)
"""About the project's own pages."""

FEWEST = 3
_LONGEST = 300


def derived(sources: Iterable[tuple[str | None, list[dict[str, Any]]]]) -> list[str]:
    """Questions made of titles and headings, of one source after the other. `sources`: title, and some chunks."""
    lists = [list(dict.fromkeys(_of_source(title, chunks))) for title, chunks in sources]
    by_turns = (each[turn] for turn in range(max(map(len, lists), default=0)) for each in lists if turn < len(each))
    return list(islice(dict.fromkeys(by_turns), FEWEST))


def _of_source(title: str | None, chunks: list[dict[str, Any]]) -> Iterator[str]:
    """From the most telling to the least: headings under the title, the title, beginnings of texts."""
    for chunk in chunks[len(chunks) // 2 :] + chunks[: len(chunks) // 2]:
        path = chunk["heading_path"]
        if path and path[-1] != title:
            yield _cut(f"{title}: {path[-1]}" if title else path[-1])
    if title and len(title) >= FEWEST:
        yield _cut(title)
    for chunk in chunks:
        words = chunk["text"].split()
        for first in (0, 10, 20):
            if len(beginning := " ".join(words[first : first + 10])) >= FEWEST:
                yield _cut(beginning)


def _cut(text: str) -> str:
    return " ".join(text.split())[:_LONGEST]
