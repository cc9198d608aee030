"""How an answer is described: chunks with all that a citation needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field

from services.query.neighbours import Neighbour, Pair
from services.query.search import Answer, Hit, Mode
from services.query.shortening import shorten


class Arm(BaseModel):
    """What one arm says about a chunk."""

    rank: int | None = Field(description="From 1; null: not among the arm's best.")
    score: float | None = Field(description="Cosine, or BM25; null: the chunk has no vector.")


class Explanation(BaseModel):
    """Where the score comes from."""

    vector: Arm
    keyword: Arm


class Twin(BaseModel):
    """A chunk that says the same as one of the answer."""

    chunk_id: UUID
    source_id: UUID
    title: str | None
    url: str | None


class ChunkBeside(BaseModel):
    """A chunk that stands next to one of the answer."""

    chunk_id: UUID
    ordinal: int
    text: str
    truncated: bool = False


class Surroundings(BaseModel):
    """What stands before and after a chunk in its source; null at an end. Texts can overlap with the chunk's."""

    before: ChunkBeside | None
    after: ChunkBeside | None


class FoundChunk(BaseModel):
    """A chunk with all that a citation needs."""

    chunk_id: UUID
    source_id: UUID
    knowledge_base_id: UUID
    title: str | None
    url: str | None = Field(description="Of the original, with the anchor or page where the chunk begins.")
    heading_path: list[str]
    locator: dict[str, Any]
    text: str
    truncated: bool = Field(False, description="The text was cut to keep to `text_budget`.")
    score: float = Field(description="Comparable within one answer only.")
    ordinal: int = Field(description="Place of the chunk in its source, from 0.")
    token_count: int = Field(description="Of the whole chunk.")
    also_in: list[Twin] = Field(description="Chunks further down that say the same, in place of hits of their own.")
    neighbours: Surroundings | None = None
    explain: Explanation | None = None


class Degraded(BaseModel):
    """Why only keywords were searched."""

    code: str
    reason: str


class SearchResponse(BaseModel):
    """The best chunks, best first."""

    hits: list[FoundChunk]
    mode: Mode = Field(description="Which arms took part.")
    degraded: Degraded | None = None
    truncated: bool = Field(False, description="A text was cut to keep to `text_budget`.")
    took_ms: float


def response_of(
    answer: Answer, pairs: Sequence[Pair] | None, *, text_budget: int | None, explain: bool, took_ms: float
) -> SearchResponse:
    """The answer in the words of the API. `pairs` are the neighbours of each hit, where they were asked for."""
    around: Sequence[Pair | None] = pairs or [None] * len(answer.hits)
    response = SearchResponse(
        hits=[_found(hit, pair, explain) for hit, pair in zip(answer.hits, around, strict=True)],
        mode=answer.mode,
        degraded=answer.degraded and Degraded(code=answer.degraded.code, reason=answer.degraded.reason),
        took_ms=round(took_ms, 2),
    )
    if text_budget is not None:
        _keep_to(text_budget, response)
    return response


def _keep_to(text_budget: int, response: SearchResponse) -> None:
    """The hits come first: their neighbours have what they leave."""
    holders: list[FoundChunk | ChunkBeside] = [*response.hits, *_beside(response.hits)]
    for holder, text in zip(holders, shorten([each.text for each in holders], text_budget), strict=True):
        holder.truncated = len(text) < len(holder.text)
        holder.text = text
    response.truncated = any(holder.truncated for holder in holders)


def _beside(hits: Sequence[FoundChunk]) -> Iterator[ChunkBeside]:
    for hit in hits:
        if hit.neighbours is not None:
            yield from filter(None, (hit.neighbours.before, hit.neighbours.after))


def _found(hit: Hit, pair: Pair | None, explain: bool) -> FoundChunk:
    row = hit.row
    explanation = None
    if explain:
        explanation = Explanation(
            vector=Arm(rank=row.vector_rank, score=row.cosine),
            keyword=Arm(rank=row.keyword_rank, score=row.bm25),
        )
    return FoundChunk(
        chunk_id=row.chunk_id,
        source_id=row.source_id,
        knowledge_base_id=row.knowledge_base_id,
        title=row.title,
        url=hit.url,
        heading_path=row.heading_path,
        locator=hit.locator,
        text=row.text,
        score=row.score,
        ordinal=row.ordinal,
        token_count=row.token_count,
        also_in=[_twin(other) for other in hit.also_in],
        neighbours=pair and Surroundings(before=_neighbour(pair.before), after=_neighbour(pair.after)),
        explain=explanation,
    )


def _twin(hit: Hit) -> Twin:
    return Twin(chunk_id=hit.row.chunk_id, source_id=hit.row.source_id, title=hit.row.title, url=hit.url)


def _neighbour(beside: Neighbour | None) -> ChunkBeside | None:
    return beside and ChunkBeside(**beside._asdict())
