"""The vectors of queries: kept, bounded, and never the reason why a search is not answered."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
import structlog

from schemas.codes import CATALOGUE, Code
from services.chassis import metrics
from services.encoder.encoder import Encoder
from services.encoder.errors import EncoderError, EncoderRefused, EncoderUnavailable
from services.query.settings import SearchSettings

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class QueryVector:
    """A vector of length 1 in pgvector's text form, and the name of its space."""

    space: str
    text: str


@dataclass(frozen=True, slots=True)
class NoVector:
    """Why there is none: only keywords can be searched."""

    code: Code
    reason: str


class QueryVectors:
    """Asks the encoder for what it was not asked for lately."""

    def __init__(self, encoder: Encoder | None, settings: SearchSettings, missing: NoVector | None = None) -> None:
        """`missing` says why there is no encoder, where one was wanted."""
        self._encoder = encoder
        self._settings = settings
        self._missing = missing or NoVector(Code.W001, CATALOGUE[Code.W001].meaning)
        self._kept: OrderedDict[str, QueryVector] = OrderedDict()
        self._places = asyncio.Semaphore(settings.model_concurrency)
        self._closed_until = 0.0

    async def of(self, query: str) -> QueryVector | NoVector:
        """The vector of a query. Doesn't raise."""
        if self._encoder is None:
            return self._missing
        if (vector := self._kept.get(query)) is not None:
            self._kept.move_to_end(query)
            return vector
        if time.monotonic() < self._closed_until:
            return NoVector(Code.PROVIDER_DOWN, CATALOGUE[Code.PROVIDER_DOWN].meaning)
        started = time.perf_counter()
        try:
            async with asyncio.timeout(self._settings.model_timeout), self._places:
                vector = QueryVector(self._encoder.space.name, _as_text(await self._encoder.embed_query(query)))
        except (EncoderError, TimeoutError) as error:
            return self._without(error)
        metrics.SEARCH_SECONDS.labels("model").observe(time.perf_counter() - started)
        self._keep(query, vector)
        return vector

    async def aclose(self) -> None:
        """Release the encoder."""
        if self._encoder is not None:
            await self._encoder.aclose()

    def _keep(self, query: str, vector: QueryVector) -> None:
        self._kept[query] = vector
        while len(self._kept) > self._settings.cached_vectors:
            self._kept.popitem(last=False)

    def _without(self, error: EncoderError | TimeoutError) -> NoVector:
        code = error.code if isinstance(error, EncoderRefused) else Code.PROVIDER_DOWN
        log.warning("no vector for a query", code=code, reason=str(error) or type(error).__name__)
        if isinstance(error, (EncoderUnavailable, TimeoutError)):
            # Others need not wait for the time-out as well.
            self._closed_until = time.monotonic() + self._settings.model_pause
        return NoVector(code, CATALOGUE[code].meaning)  # the provider's own words stay in the log


def _as_text(raw: bytes) -> str:
    """`raw` is little-endian float32. Scaled, since halfvec holds numbers up to 65,504 only.

    Raises EncoderRefused(BAD_VECTOR) for a vector that is near to nothing.
    """
    vector = np.frombuffer(raw, "<f4").astype(np.float64)
    length = np.linalg.norm(vector)
    if not (np.isfinite(length) and length > 0):
        raise EncoderRefused(Code.BAD_VECTOR, f"a query's vector has the length {length}")
    vector /= length
    return "[" + ",".join([f"{number:.6g}" for number in vector.tolist()]) + "]"
