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
from services.query.api.found import SearchResponse, response_of
from services.query.query_log.entries import Question
from services.query.search import Filters

router = APIRouter(tags=["search"])

Ids = Annotated[list[UUID], Field(max_length=1000)]


def _without_surrogates(value: Any) -> Any:
    """JSON can hold halves of characters; a query of them is a query all the same."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _storable(value: Any) -> Any:
    """Postgres keeps neither halves of characters nor NUL, so nothing that it holds has them."""
    return _without_surrogates(value).replace("\0", "\ufffd") if isinstance(value, str) else value


Key = Annotated[str, BeforeValidator(_storable), Field(max_length=200)]
ShortString = Annotated[str, BeforeValidator(_storable), Field(max_length=1000)]
Scalar = ShortString | bool | int | Annotated[float, Field(allow_inf_nan=False)]


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
    metadata: Annotated[dict[Key, Scalar], Field(max_length=8)] | None = Field(
        None, description="Only sources whose metadata holds all of these.", examples=[{"grade": 7}]
    )
    public_only: bool = Field(False, description="Leave out what only staff sees.")
    fusion: Literal["scores", "rrf"] = "scores"
    neighbours: bool = Field(False, description="Add the chunks before and after each one in its source.")
    text_budget: int | None = Field(
        None, ge=50, le=20_000, description="Tokens (cl100k) of all texts at most; what is beyond is cut."
    )
    explain: bool = Field(False, description="Add each arm's rank and score.")
    message_id: Annotated[str, BeforeValidator(_storable), Field(max_length=200)] | None = Field(
        None, description="What the search is for, such as the agent's message: noted in the log of queries."
    )

    def question(self) -> Question:
        """What the search is told of it."""
        filters = Filters(
            knowledge_base_ids=self.knowledge_base_ids,
            source_ids=self.source_ids,
            kinds=list(self.kinds) if self.kinds is not None else None,
            public_only=self.public_only,
            metadata=dict(self.metadata) if self.metadata else None,
        )
        return Question(self.query, self.k, filters, self.fusion, self.message_id)


@router.post("/search", response_model_exclude_none=False)
async def search(request: SearchRequest, principal: Caller, parts: Application) -> SearchResponse:
    """Chunks that answer a question, found by meaning and by words."""
    started = time.perf_counter()
    question = request.question()
    try:
        answer = await parts.search.search(principal, request.query, request.k, question.filters, request.fusion)
        pairs = await parts.neighbours.of(principal, answer.hits) if request.neighbours else None
    except KnowledgeBaseError as error:
        metrics.SEARCHES.labels(error.code.lower()).inc()
        raise
    took = time.perf_counter() - started
    metrics.SEARCH_SECONDS.labels("total").observe(took)
    metrics.SEARCHES.labels("degraded" if answer.degraded else answer.mode).inc()
    parts.query_log.note(principal, question, answer, took * 1000)
    return response_of(answer, pairs, text_budget=request.text_budget, explain=request.explain, took_ms=took * 1000)
