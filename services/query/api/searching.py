"""POST /v1/search."""

from __future__ import annotations

import time
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from services.chassis import metrics
from services.chassis.errors import KnowledgeBaseError
from services.query.api.callers import Application, Caller
from services.query.search import Answer, Filters, Hit, Mode

router = APIRouter(tags=["search"])

Ids = Annotated[list[UUID], Field(max_length=1000)]


def _without_surrogates(value: Any) -> Any:
    """JSON can hold halves of characters; a query of them is a query all the same."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


class SearchRequest(BaseModel):
    """What is looked for. Filters narrow what the caller may see, never more."""

    model_config = ConfigDict(extra="forbid")

    query: Annotated[str, BeforeValidator(_without_surrogates)] = Field(
        description="3 to 500 characters, without the white space around. Any text is a query.", examples=["refunds"]
    )
    k: int = Field(6, ge=1, le=15, description="Chunks of the answer at most.")
    knowledge_base_ids: Ids | None = None
    source_ids: Ids | None = None
    kinds: list[Literal["url", "file", "text"]] | None = None
    public_only: bool = Field(False, description="Leave out what only staff sees.")
    fusion: Literal["scores", "rrf"] = "scores"
    explain: bool = Field(False, description="Add each arm's rank and score.")


class Arm(BaseModel):
    """What one arm says about a chunk."""

    rank: int | None = Field(description="From 1; null: not among the arm's best.")
    score: float | None = Field(description="Cosine, or BM25; null: the chunk has no vector.")


class Explanation(BaseModel):
    """Where the score comes from."""

    vector: Arm
    keyword: Arm


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
    score: float = Field(description="Comparable within one answer only.")
    ordinal: int = Field(description="Place of the chunk in its source, from 0.")
    token_count: int
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
    took_ms: float


@router.post("/search", response_model_exclude_none=False)
async def search(request: SearchRequest, principal: Caller, parts: Application) -> SearchResponse:
    """Chunks that answer a question, found by meaning and by words."""
    started = time.perf_counter()
    filters = Filters(
        knowledge_base_ids=request.knowledge_base_ids,
        source_ids=request.source_ids,
        kinds=list(request.kinds) if request.kinds is not None else None,
        public_only=request.public_only,
    )
    try:
        answer = await parts.search.search(principal, request.query, request.k, filters, request.fusion)
    except KnowledgeBaseError as error:
        metrics.SEARCHES.labels(error.code.lower()).inc()
        raise
    took = time.perf_counter() - started
    metrics.SEARCH_SECONDS.labels("total").observe(took)
    metrics.SEARCHES.labels("degraded" if answer.degraded else answer.mode).inc()
    return _response(answer, request.explain, took)


def _response(answer: Answer, explain: bool, took: float) -> SearchResponse:
    degraded = answer.degraded and Degraded(code=answer.degraded.code, reason=answer.degraded.reason)
    return SearchResponse(
        hits=[_found(hit, explain) for hit in answer.hits],
        mode=answer.mode,
        degraded=degraded,
        took_ms=round(took * 1000, 2),
    )


def _found(hit: Hit, explain: bool) -> FoundChunk:
    row, ranked = hit.row, hit.ranked
    explanation = None
    if explain:
        explanation = Explanation(
            vector=Arm(rank=ranked.vector_rank, score=row.cosine),
            keyword=Arm(rank=ranked.keyword_rank, score=row.bm25),
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
        score=ranked.score,
        ordinal=row.ordinal,
        token_count=row.token_count,
        explain=explanation,
    )
