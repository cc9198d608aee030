"""Names of spaces are stable, since tables are named after them; prices follow them."""

from __future__ import annotations

import pickle

from schemas.codes import Code
from services.encoder.errors import EncoderRefused, EncoderUnavailable
from services.encoder.prices import dollars_per_million_tokens
from services.encoder.spaces import EmbeddingSpace


def test_name_holds_provider_model_and_dimensions() -> None:
    assert EmbeddingSpace("openai", "text-embedding-3-small", 1_536).name == "openai/text-embedding-3-small@1536"


def test_spaces_of_other_dimensions_are_other_spaces() -> None:
    small, large = (EmbeddingSpace("openai", "text-embedding-3-large", size) for size in (256, 3_072))
    assert small != large
    assert small.name != large.name


def test_prices() -> None:
    assert dollars_per_million_tokens(EmbeddingSpace("openai", "text-embedding-3-small", 1_536)) == 0.02
    assert dollars_per_million_tokens(EmbeddingSpace("openai", "text-embedding-3-large", 3_072)) == 0.13
    assert dollars_per_million_tokens(EmbeddingSpace("local", "anything", 384)) == 0
    assert dollars_per_million_tokens(EmbeddingSpace("openai", "somebody-elses", 10)) is None


def test_errors_keep_their_parts_when_pickled() -> None:
    away = pickle.loads(pickle.dumps(EncoderUnavailable("gone", 7.0)))  # noqa: S301
    assert (str(away), away.retry_after) == ("gone", 7.0)
    refused = pickle.loads(pickle.dumps(EncoderRefused(Code.BAD_VECTOR, "zeros", by_input=True)))  # noqa: S301
    assert (refused.code, refused.by_input, str(refused)) == (Code.BAD_VECTOR, True, "BAD_VECTOR: zeros")
