"""Realistic sources, each of its own: paragraphs of real documentation in ever new order, so that nothing is reused."""

from __future__ import annotations

import json
import random
from functools import cache
from itertools import count
from pathlib import Path
from uuid import UUID

from schemas.events import SourceSubmitted

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"
CORPUS = SHARED / "data/ir/aws-docs-small/corpus.jsonl"
SECTION = 1_500
"""Characters of a section, about what fills a chunk."""

_PARAGRAPH = range(60, 1_200)
_numbers = count(1)


@cache
def paragraphs() -> tuple[str, ...]:
    """Paragraphs of the shared corpus, or of the project's own documents where that is missing."""
    if CORPUS.is_file():
        with CORPUS.open(encoding="utf-8") as lines:
            texts = [json.loads(line)["text"] for line in lines]
    else:
        texts = [path.read_text(encoding="utf-8") for path in sorted(ROOT.rglob("*.md")) if ".venv" not in path.parts]
    found = [part.strip() for text in texts for part in text.split("\n\n")]
    return tuple(part for part in found if len(part) in _PARAGRAPH and not part.startswith("#"))


def markdown(sections: int, rng: random.Random) -> str:
    """A document of so many sections, which the default preset makes about as many chunks of."""
    name = f"{next(_numbers):06d}"
    parts = [f"# Guide {name}"]
    for number in range(sections):
        parts.append(f"## {rng.choice(paragraphs())[:40].splitlines()[0].strip('#*|`- ')} {name}.{number}")
        size = 0
        while size < SECTION - 200:
            paragraph = rng.choice(paragraphs())
            if size + len(paragraph) <= SECTION:
                parts.append(paragraph)
                size += len(paragraph) + 2
    return "\n\n".join(parts)


def sources(organizations: list[UUID], number: int, sections: int, seed: int) -> list[SourceSubmitted]:
    """Text sources, spread evenly over the organizations."""
    rng = random.Random(seed)
    return [
        SourceSubmitted(
            organization_id=organizations[place % len(organizations)],
            external_id=f"benchmark-{seed}-{place}",
            kind="text",
            media_type="text/markdown",
            text=markdown(sections, rng),
        )
        for place in range(number)
    ]
