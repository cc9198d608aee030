"""Evaluates collections on a system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from schemas.codes import Code
from services.cli.evaluation.asking import Asked, Asker, Searchable
from services.cli.evaluation.collection import Collection, Document
from services.cli.evaluation.ingesting import Ingested, ingest
from services.cli.evaluation.measures import ndcg, percentile, recall, reciprocal_rank
from services.cli.evaluation.system import System
from services.cli.failures import CommandFailed
from services.cli.stack import Say
from services.query.fusion import Fusion


@dataclass(frozen=True, slots=True)
class Plan:
    """What is evaluated how. `k`: chunks a query; `patience`: seconds without progress of the ingestion."""

    collections: Sequence[Collection]
    fusions: Sequence[Fusion]
    k: int
    patience: float


@dataclass(frozen=True, slots=True)
class Evaluated:
    """One collection by one fusion. `space` is None where keywords alone were searched."""

    collection: Collection
    fusion: Fusion
    space: str | None
    ingested: Ingested
    searchable: Searchable
    asked: Sequence[Asked]
    k: int

    def figures(self) -> dict[str, Any]:
        """The row that is printed."""
        gained = [(each.ranking, each.query.relevant) for each in self.asked]
        return {
            "set": self.collection.name,
            "fusion": self.fusion,
            "model": self.space or "none",
            "nDCG@10": round(fmean(ndcg(*each) for each in gained), 4),
            "recall@30": round(fmean(recall(*each) for each in gained), 4),
            "MRR@10": round(fmean(reciprocal_rank(*each) for each in gained), 4),
            "queries": len(self.asked),
            "documents": len(self.ingested.documents),
            "chunks": self.ingested.chunks,
            "failed": {id: list(reason) for id, reason in sorted(self.ingested.failed.items())},
            "search_ms": _milliseconds([each.seconds for each in self.asked]),
            "model_ms": _milliseconds(self.searchable.model_seconds),
            "k": self.k,
            "queries_cut": self.searchable.cut,
            "queries_too_short": self.searchable.too_short,
            "queries_left_out": self.collection.queries_left_out,
            "judgments_left_out": self.collection.judgments_left_out,
            "ingested_now": self.ingested.published,
            "ingest_seconds": round(self.ingested.seconds, 2),
            "degraded": None if self.space else Code.W001,
        }

    def documents(self) -> Mapping[str, Document]:
        """All that could be found, by id."""
        return {document.id: document for document in self.ingested.documents.values()}


async def evaluate(system: System, plan: Plan, say: Say) -> list[Evaluated]:
    """Ingest what is not there, then ask. Raises CommandFailed, DependencyDown, RequestRefused."""
    found: list[Evaluated] = []
    for collection in plan.collections:
        ingested = await ingest(system, collection.documents, plan.patience, say)
        asker = Asker(system, ingested, collection.queries, plan.k)
        searchable = await asker.prepare()
        if not searchable.queries:
            raise CommandFailed(Code.QUERY_INVALID, f"{collection.name}: every query is too short to be asked")
        for fusion in plan.fusions:
            say(f"{collection.name}: asking {len(searchable.queries)} queries, {fusion}")
            asked = await asker.ask(searchable, fusion)
            found.append(Evaluated(collection, fusion, system.space, ingested, searchable, asked, plan.k))
    return found


def _milliseconds(seconds: Sequence[float]) -> dict[str, float] | None:
    if not seconds:
        return None
    return {f"p{share}": round(1000 * percentile(seconds, share / 100), 2) for share in (50, 95)}
