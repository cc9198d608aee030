"""Runs the demonstration on a stack."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

from schemas.codes import Code
from services.cli.addresses import Addresses
from services.cli.client import Client
from services.cli.demo.documents import Document
from services.cli.demo.ingesting import Ingest, Progress
from services.cli.demo.questions import OWN, derived
from services.cli.searching import answer_lines
from services.cli.settings import CommandSettings

_HITS = 3
_ASKED_ABOUT = 6  # sources from which questions are made
_CHUNKS_LOOKED_AT = 20


class Demo:
    """Ingests, asks, counts."""

    def __init__(
        self,
        settings: CommandSettings,
        documents: list[Document],
        organization: str | None,
        seconds: float,
        say: Callable[[str], None],
        *,
        own: bool,
    ) -> None:
        """`seconds` bounds the ingestion; `own` says that the documents are the project's."""
        self._settings = settings
        self._documents = documents
        self._organization = organization
        self._seconds = seconds
        self._say = say
        self._own = own

    async def run(self, addresses: Addresses, *, as_json: bool) -> int:
        """Gives the exit code: 0 if every document is ready and every question has an answer."""
        begun = time.monotonic()
        settings = self._settings.model_copy(update={"url": addresses.url})
        with Client(settings, self._organization) as client:
            before = await asyncio.to_thread(_counts, client)
            progress = await Ingest(client, addresses, self._say).run(self._documents, self._seconds)
            ingested = time.monotonic() - begun
            answers = await asyncio.to_thread(self._ask, client, progress)
            after = await asyncio.to_thread(_counts, client)
        result = {
            "ready": len(progress.ready),
            "failed": {name: list(reason) for name, reason in progress.failed.items()},
            "unsupported": sorted(progress.unsupported),
            "before": before,
            "after": after,
            "seconds": {"ingested": round(ingested, 2), "answered": round(time.monotonic() - begun, 2)},
            "questions": answers,
        }
        if as_json:
            print(json.dumps(result, ensure_ascii=False))
        self._say_counts(progress, before, after)
        unanswered = [answer["question"] for answer in answers if not answer["hits"]]
        for question in unanswered:
            self._say(f"no answer: {question}")
        return 1 if progress.failed or not progress.ready or unanswered else 0

    def _ask(self, client: Client, progress: Progress) -> list[dict[str, Any]]:
        asked = OWN if self._own else derived(self._chunks(client, progress))
        answers = []
        for question in asked:
            answer = client.call("POST", "/v1/search", json={"query": question, "k": _HITS})
            self._say(f"\n? {question}")
            for line in answer_lines(answer):
                self._say(line)
            answers.append({"question": question, "hits": answer["hits"], "degraded": answer["degraded"]})
        return answers

    def _chunks(self, client: Client, progress: Progress) -> list[tuple[str | None, list[dict[str, Any]]]]:
        sources = list(progress.ready.values())
        step = max(1, len(sources) // _ASKED_ABOUT)
        found = []
        for source in sources[::step][:_ASKED_ABOUT]:
            path = f"/v1/sources/{source['id']}/chunks"
            chunks = client.call("GET", path, params={"limit": _CHUNKS_LOOKED_AT})["items"]
            found.append((source["title"] or source["document_title"], chunks))
        return found

    def _say_counts(self, progress: Progress, before: dict[str, int], after: dict[str, int]) -> None:
        self._say("")
        for name, (code, reason) in progress.failed.items():
            self._say(f"failed: {name}: {code}: {reason}")
        if progress.unsupported:
            self._say(f"left out, {Code.UNSUPPORTED_TYPE}: {len(progress.unsupported)} files")
        for name, words in (("sources", "sources"), ("chunks", "chunks"), ("tokens", "tokens embedded in all")):
            self._say(f"{words}: {after[name]} ({after[name] - before[name]:+} by this run)")


def _counts(client: Client) -> dict[str, int]:
    """What the organization's default knowledge base holds, and what has ever been embedded."""
    sources = list(client.pages(f"/v1/knowledge-bases/{client.knowledge_base(None)}/sources"))
    return {
        "sources": len(sources),
        "chunks": sum(source["chunk_count"] for source in sources),
        "tokens": sum(day["tokens"] for day in client.call("GET", "/v1/usage")["items"]),
    }
