"""A search as the log keeps it."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import uuid4

from services.query.access import Principal
from services.query.fusion import Fusion
from services.query.search import Answer, Filters, checked_query

Entry = dict[str, Any]
"""A row of query_log by the names of its columns."""


class Question(NamedTuple):
    """What was asked. `message_id` is the caller's name for what the search was for."""

    query: str
    k: int
    filters: Filters
    fusion: Fusion
    message_id: str | None = None


def entry_of(principal: Principal, question: Question, answer: Answer, took_ms: float, *, with_text: bool) -> Entry:
    """The row of a search that has just been answered."""
    return {
        "organization_id": principal.organization_id,
        "id": uuid4(),
        "occurred_at": datetime.now(UTC),
        "query": checked_query(question.query) if with_text else None,
        "k": question.k,
        "mode": answer.mode,
        "fusion": question.fusion,
        "space": answer.space,
        "degraded": answer.degraded and answer.degraded.code,
        "filters": _set_ones(question.filters),
        **_columns(answer),
        "took_ms": took_ms,
        "role": principal.role,
        "audience": principal.audience,
        "profile_id": principal.profile_id,
        "api_key_id": principal.api_key_id,
        "message_id": question.message_id,
    }


def _set_ones(filters: Filters) -> dict[str, Any]:
    """The filters that narrow, not copied: there can be thousands of ids."""
    values = {each.name: getattr(filters, each.name) for each in fields(filters)}
    return {name: value for name, value in values.items() if value not in (None, False)}


def _columns(answer: Answer) -> Entry:
    """The hits as parallel arrays, best first."""
    return {
        "chunk_ids": [hit.row.chunk_id for hit in answer.hits],
        "source_ids": [hit.row.source_id for hit in answer.hits],
        "scores": [hit.row.score for hit in answer.hits],
        "cosines": [hit.row.cosine for hit in answer.hits],
        "bm25": [hit.row.bm25 for hit in answer.hits],
        "vector_ranks": [hit.row.vector_rank for hit in answer.hits],
        "keyword_ranks": [hit.row.keyword_rank for hit in answer.hits],
    }
