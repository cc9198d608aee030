"""Vectors from OpenAI, or from any server that speaks its embeddings API."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
from collections.abc import Sequence
from typing import Any

import httpx2
import numpy as np
from openai import APIError, AsyncOpenAI, Omit, omit

from schemas.codes import Code
from services.encoder.encoder import Limits
from services.encoder.errors import EncoderRefused, EncoderUnavailable
from services.encoder.refusals import meaning
from services.encoder.spaces import EmbeddingSpace
from services.encoder.tokens import without_surrogates
from services.encoder.vectors import checked

DIMENSIONS = {"text-embedding-3-small": 1_536, "text-embedding-3-large": 3_072, "text-embedding-ada-002": 1_536}
CONNECT_SECONDS = 5.0
NO_KEY = "none"
"""Servers of one's own often want no key, but the client insists on one."""


class OpenAICompatibleEncoder:
    """Sends each request once: who calls decides whether and when to repeat it."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str,
        api_key: str | None = None,
        dimensions: int | None = None,
        timeout: float = 60.0,
        limits: Limits | None = None,
    ) -> None:
        """`timeout` is the number of seconds for a whole request. Nothing connects yet.

        EncoderRefused (MODEL_UNAVAILABLE) if the length of the model's vectors is neither given nor known.
        """
        known = dimensions or DIMENSIONS.get(model)
        if known is None:
            reason = f"the dimensions of {model} are not known: set KB_EMBEDDING_DIMENSIONS"
            raise EncoderRefused(Code.MODEL_UNAVAILABLE, reason)
        self.space = EmbeddingSpace("openai", model, known)
        self.limits = limits or Limits()
        self._asked_dimensions: int | Omit = dimensions or omit
        self._timeout = timeout
        self._client = AsyncOpenAI(
            api_key=api_key or NO_KEY,
            base_url=base_url,
            max_retries=0,
            timeout=httpx2.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS)),
        )

    async def embed_passages(self, texts: Sequence[str]) -> list[bytes]:
        """The vectors of passages, in order."""
        return await self._embed([self.space.passage_prefix + without_surrogates(text) for text in texts])

    async def embed_query(self, text: str) -> bytes:
        """The vector of a query."""
        return (await self._embed([self.space.query_prefix + without_surrogates(text)]))[0]

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _embed(self, inputs: list[str]) -> list[bytes]:
        if not inputs:
            return []
        vectors = vectors_of(await self._request(inputs), len(inputs))
        checked(vectors, self.space.dimensions)
        return vectors

    async def _request(self, inputs: list[str]) -> bytes:
        """The body of the answer. It stays unparsed: building the client's models would take most of the time."""
        try:
            # The client's time-outs are for each read; an answer that drips in would never end.
            async with asyncio.timeout(self._timeout):
                answer = await self._client.embeddings.with_raw_response.create(
                    model=self.space.model,
                    input=inputs,
                    dimensions=self._asked_dimensions,
                    encoding_format="base64",
                )
                return answer.content
        except TimeoutError:
            raise EncoderUnavailable(f"the provider took longer than {self._timeout:g} s") from None
        except APIError as error:
            raise meaning(error) from error


def vectors_of(body: bytes, count: int) -> list[bytes]:
    """The vectors in an answer's body, in the order of the inputs.

    EncoderUnavailable for a body that isn't JSON, as of a proxy; EncoderRefused for one that isn't an answer to `count`
    inputs.
    """
    try:
        answer = json.loads(body)
    except ValueError:
        raise EncoderUnavailable(f"the provider's answer is not JSON: {body[:200]!r}") from None
    try:
        vectors = {entry["index"]: _vector(entry["embedding"]) for entry in answer["data"]}
        return [vectors[index] for index in range(count)]
    except (KeyError, TypeError, ValueError, binascii.Error):
        reason = f"the provider's answer does not hold {count} vectors: {body[:200]!r}"
        raise EncoderRefused(Code.PROVIDER_REFUSED, reason) from None


def _vector(embedding: Any) -> bytes:
    """Base64 as asked for, or the list of numbers that some servers give all the same."""
    if isinstance(embedding, str):
        return base64.b64decode(embedding)
    return np.array(embedding, "<f4").tobytes()
