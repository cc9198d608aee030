"""A revision as it comes in batches, and what making it live changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from schemas.events import Chunk, SourceEmbedded
from schemas.recipes import recipe
from services.indexer.vectors import to_halfvec
from services.indexer.wording import Prefix, Worded


@dataclass(frozen=True, slots=True)
class Revision:
    """All batches of one revision, in order."""

    batches: tuple[SourceEmbedded, ...]

    @property
    def first(self) -> SourceEmbedded:
        """The batch that tells what all have in common."""
        return self.batches[0]

    @property
    def chunk_count(self) -> int:
        """Chunks of the revision."""
        return sum(len(batch.chunks) for batch in self.batches)

    @property
    def token_count(self) -> int:
        """Tokens of all chunks."""
        return sum(chunk.token_count for chunk in self.chunks())

    @property
    def recipe(self) -> str:
        """How its chunks were made."""
        return recipe(self.first.recipe, self.first.space)

    def chunks(self) -> Iterator[Chunk]:
        """All chunks, in order."""
        for batch in self.batches:
            yield from batch.chunks

    def vectors(self, wanted: set[UUID]) -> Iterator[tuple[UUID, bytes]]:
        """Ids and halfvecs of the wanted chunks. Nothing where the revision has no vectors."""
        for batch in self.batches:
            pairs = [
                (chunk.id, vector)
                for chunk, vector in zip(batch.chunks, batch.vectors, strict=False)
                if chunk.id in wanted
            ]
            if pairs and batch.dimensions:
                ids, vectors = zip(*pairs, strict=True)
                yield from zip(ids, to_halfvec(vectors, batch.dimensions), strict=True)


@dataclass(frozen=True, slots=True)
class Change:
    """What has to be written for one revision, given the chunks that are there."""

    revision: Revision
    added: tuple[Chunk, ...]
    kept: tuple[Chunk, ...]
    dropped: tuple[UUID, ...]
    prefix: Prefix
    words_are_old: bool

    @property
    def new_words(self) -> Worded:
        """The chunks whose words have to be written."""
        chunks = (*self.added, *self.kept) if self.words_are_old else self.added
        first = self.revision.first
        return Worded(first.organization_id, first.source_id, self.prefix, [(c.id, c.text) for c in chunks])


def change(revision: Revision, present: set[UUID], prefix: Prefix, *, words_are_old: bool) -> Change:
    """Compare the revision with the ids of the chunks that are there."""
    chunks = tuple(revision.chunks())
    wanted = {chunk.id for chunk in chunks}
    return Change(
        revision,
        added=tuple(chunk for chunk in chunks if chunk.id not in present),
        kept=tuple(chunk for chunk in chunks if chunk.id in present),
        dropped=tuple(sorted(present - wanted)),
        prefix=prefix,
        words_are_old=words_are_old,
    )


def columns(changes: Sequence[Change]) -> dict[str, list[object]]:
    """The sources of the changes as columns of parameters."""
    firsts = [change.revision.first for change in changes]
    return {
        "organizations": [first.organization_id for first in firsts],
        "sources": [first.source_id for first in firsts],
        "document_titles": [first.document_title for first in firsts],
        "languages": [first.language for first in firsts],
    }
