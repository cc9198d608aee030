"""From texts to vectors by way of a provider that has limits, is slow at times and away at others."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass

from schemas.codes import Code
from services.embedder.batching import plan_requests, weight
from services.embedder.pacing import Clock, Pacer
from services.encoder.encoder import Encoder
from services.encoder.errors import EncoderRefused, EncoderUnavailable, RequestTooLarge


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a request is tried again while the provider is away: seconds in all, and between two tries."""

    total: float = 120.0
    first: float = 0.5
    longest: float = 20.0

    def pause(self, failures: int, asked: float | None) -> float:
        """The seconds to wait after so many failures in a row: what the provider asked for, at least the first pause.

        Where it asked for nothing: doubled each time, up to the longest, half of it by chance.
        """
        if asked is not None:
            return max(asked, self.first)
        return min(self.longest, self.first * 2.0 ** min(failures - 1, 30)) * random.uniform(0.5, 1.0)


PATIENCE = Patience()


class EmbeddingInterrupted(EncoderUnavailable):
    """The provider was away for too long. `vectors` has what was finished, None in the other places."""

    def __init__(self, cause: EncoderUnavailable, vectors: list[bytes | None]) -> None:
        super().__init__(cause.reason, cause.retry_after)
        self.vectors = vectors


class EmbeddingRun:
    """Plans, paces and repeats requests to one encoder; shared by everything in the process that embeds passages."""

    def __init__(
        self,
        encoder: Encoder,
        pacer: Pacer,
        patience: Patience = PATIENCE,
        *,
        clock: Clock = time.monotonic,
    ) -> None:
        self.encoder = encoder
        self._pacer = pacer
        self._patience = patience
        self._clock = clock
        self._slots = asyncio.Semaphore(encoder.limits.concurrency)

    async def embed(self, texts: Sequence[str], token_counts: Sequence[int]) -> list[bytes]:
        """The vectors of texts, in order; `token_counts` are of cl100k.

        EncoderRefused for what no repetition can mend, EmbeddingInterrupted when patience is at its end.
        """
        vectors: list[bytes | None] = [None] * len(texts)
        weights = [weight(text, tokens) for text, tokens in zip(texts, token_counts, strict=True)]
        requests = plan_requests(texts, token_counts, self.encoder.limits)
        try:
            async with asyncio.TaskGroup() as group:
                for positions in requests:
                    group.create_task(self._fill_in_turn(vectors, positions, texts, weights))
        except ExceptionGroup as failed:
            cause = failed.exceptions[0]
            if isinstance(cause, EncoderUnavailable):
                raise EmbeddingInterrupted(cause, vectors) from cause
            raise cause from cause.__cause__
        return [vector for vector in vectors if vector is not None]

    async def _fill_in_turn(
        self, vectors: list[bytes | None], positions: range, texts: Sequence[str], weights: Sequence[int]
    ) -> None:
        async with self._slots:
            await self._fill(vectors, positions, texts, weights)

    async def _fill(
        self, vectors: list[bytes | None], positions: range, texts: Sequence[str], weights: Sequence[int]
    ) -> None:
        """Put the vectors of these positions in their places, in smaller requests if one is too large."""
        part = slice(positions.start, positions.stop)
        try:
            vectors[part] = await self._ask(texts[part], sum(weights[part]))
        except RequestTooLarge as error:
            if len(positions) == 1:
                raise EncoderRefused(Code.INPUT_TOO_LONG, str(error), by_input=True) from error
            middle = len(positions) // 2
            await self._fill(vectors, positions[:middle], texts, weights)
            await self._fill(vectors, positions[middle:], texts, weights)

    async def _ask(self, texts: Sequence[str], tokens: int) -> list[bytes]:
        """One request, sent again while the provider is away and patience lasts."""
        failures, first_failure = 0, 0.0
        while True:
            await self._pacer.pass_request(tokens)
            try:
                return await self.encoder.embed_passages(texts)
            except EncoderUnavailable as error:
                failures, now = failures + 1, self._clock()
                first_failure = now if failures == 1 else first_failure
                pause = self._patience.pause(failures, error.retry_after)
                if now + pause > first_failure + self._patience.total:
                    raise
                # Who is away for one request is away for all: the others wait too, instead of making it worse.
                self._pacer.pause(pause)
