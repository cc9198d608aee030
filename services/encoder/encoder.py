"""What an encoder is, whichever model stands behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from services.encoder.spaces import EmbeddingSpace


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may hold, and how many requests may run at a time. Tokens are of cl100k."""

    max_inputs: int = 2_048
    max_tokens_per_request: int = 300_000
    max_tokens_per_input: int = 8_192
    concurrency: int = 8


class Encoder(Protocol):
    """Turns texts into vectors of one space. Vectors are little-endian float32 bytes, 4 x dimensions long.

    Every method raises the errors of `services.encoder.errors` and no others.
    """

    @property
    def space(self) -> EmbeddingSpace:
        """Where the vectors lie."""
        ...

    @property
    def limits(self) -> Limits:
        """What a call of `embed_passages` has to keep to."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> list[bytes]:
        """The vectors of texts that are to be found, in order. One request, never repeated."""
        ...

    async def embed_query(self, text: str) -> bytes:
        """The vector of a text that is searched for."""
        ...

    async def aclose(self) -> None:
        """Release connections, threads and memory. Nothing else may be called afterwards."""
        ...
