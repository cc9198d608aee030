"""What embedding costs."""

from __future__ import annotations

from services.encoder.spaces import EmbeddingSpace

DOLLARS_PER_MILLION_TOKENS = {
    "openai/text-embedding-3-small": 0.02,
    "openai/text-embedding-3-large": 0.13,
    "openai/text-embedding-ada-002": 0.10,
}


def dollars_per_million_tokens(space: EmbeddingSpace) -> float | None:
    """The list price of a million tokens; 0 for a model of this process, None where it is not known."""
    if space.provider == "local":
        return 0.0
    return DOLLARS_PER_MILLION_TOKENS.get(f"{space.provider}/{space.model}")
