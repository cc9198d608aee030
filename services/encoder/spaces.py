"""Which vectors can be compared with each other."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EmbeddingSpace:
    """Everything that decides where a text lands. Vectors of two spaces have nothing to do with each other.

    The prefixes are put before a text by the encoder; callers pass texts without them.
    """

    provider: str
    model: str
    dimensions: int
    query_prefix: str = ""
    passage_prefix: str = ""

    @property
    def name(self) -> str:
        """The name that events and tables carry, as `openai/text-embedding-3-small@1536`."""
        return f"{self.provider}/{self.model}@{self.dimensions}"
