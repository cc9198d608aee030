"""One request for many small sources: calls that come while a request runs go out together when it is back."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from services.embedder.embedding import EmbeddingInterrupted, EmbeddingRun
from services.encoder.errors import EncoderRefused

LARGE = 16
"""A call that fills a sixteenth of a request gains nothing from company, and goes by itself."""


@dataclass(slots=True)
class _Call:
    texts: Sequence[str]
    token_counts: Sequence[int]
    answer: asyncio.Future[list[bytes]] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class SharedEmbedding:
    """Stands before an EmbeddingRun. A call waits only while an earlier one is on its way, never for company."""

    def __init__(self, run: EmbeddingRun) -> None:
        self._run = run
        self._waiting: list[_Call] = []
        self._sending: asyncio.Task[None] | None = None

    async def embed(self, texts: Sequence[str], token_counts: Sequence[int]) -> list[bytes]:
        """As EmbeddingRun.embed, with the same errors. What is wrong with a text fails the call that brought it."""
        limits = self._run.encoder.limits
        if len(texts) * LARGE >= limits.max_inputs or sum(token_counts) * LARGE >= limits.max_tokens_per_request:
            return await self._run.embed(texts, token_counts)
        call = _Call(texts, token_counts)
        self._waiting.append(call)
        if self._sending is None:
            self._sending = asyncio.create_task(self._send())
        return await call.answer

    async def aclose(self) -> None:
        """Give up what is waited for: its callers are cancelled."""
        if self._sending is not None:
            self._sending.cancel()
            await asyncio.wait([self._sending])

    async def _send(self) -> None:
        calls: list[_Call] = []
        try:
            while self._waiting:
                calls, self._waiting = self._waiting, []
                await self._answer([call for call in calls if not call.answer.done()])
        finally:
            self._sending = None
            for call in [*calls, *self._waiting]:
                call.answer.cancel()
            self._waiting = []

    async def _answer(self, calls: Sequence[_Call]) -> None:
        """Answer calls with one run; where one of several may be at fault, each half by itself."""
        texts = [text for call in calls for text in call.texts]
        token_counts = [tokens for call in calls for tokens in call.token_counts]
        try:
            _share(calls, list(await self._run.embed(texts, token_counts)), None)
        except EmbeddingInterrupted as error:
            _share(calls, error.vectors, error)
        except EncoderRefused as error:
            if not error.by_input or len(calls) == 1:
                _fail(calls, error)
            else:
                middle = len(calls) // 2
                await self._answer(calls[:middle])
                await self._answer(calls[middle:])
        except Exception as error:  # noqa: BLE001 - it is raised again where the call was made
            _fail(calls, error)


def _share(calls: Sequence[_Call], vectors: Sequence[bytes | None], error: EmbeddingInterrupted | None) -> None:
    """Give each call its own vectors, or the error with those that it has."""
    first = 0
    for call in calls:
        own = vectors[first : first + len(call.texts)]
        first += len(call.texts)
        whole = [vector for vector in own if vector is not None]
        if call.answer.done():
            continue
        if len(whole) == len(own):
            call.answer.set_result(whole)
        elif error is not None:
            call.answer.set_exception(EmbeddingInterrupted(error, list(own)))


def _fail(calls: Sequence[_Call], error: Exception) -> None:
    for call in calls:
        if not call.answer.done():
            call.answer.set_exception(error)
