"""From settings to an encoder."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from schemas.codes import Code
from services.encoder.encoder import Encoder, Limits
from services.encoder.errors import EncoderError, EncoderRefused
from services.encoder.settings import EncoderSettings
from services.encoder.spaces import EmbeddingSpace

if TYPE_CHECKING:
    from services.encoder.local.encoder import Model

EXTRA = "agent-knowledge-base[local]"


async def open_encoder(settings: EncoderSettings) -> Encoder | None:
    """The encoder that the settings name; None for `none`. Nothing connects before the first text.

    A local model is loaded, and converted if it is new here. EncoderRefused (MODEL_UNAVAILABLE) if that can't be done.
    """
    model = settings.chosen_model
    provider, _, name = model.partition("/")
    if model == "none":
        return None
    if provider == "openai" and name:
        return _open_provider(settings, name)
    return await asyncio.to_thread(_open_local, settings, model)


def _open_provider(settings: EncoderSettings, name: str) -> Encoder:
    from services.encoder.openai_compatible import OpenAICompatibleEncoder

    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
    return OpenAICompatibleEncoder(
        name,
        base_url=settings.openai_base_url,
        api_key=key,
        dimensions=settings.embedding_dimensions,
        timeout=settings.embedding_timeout,
        limits=Limits(concurrency=settings.embedding_concurrency),
    )


def _open_local(settings: EncoderSettings, model: str) -> Encoder:
    try:
        from services.encoder.local.encoder import LocalEncoder

        space, loaded = _load(model, settings.model_cache)
    except EncoderError:
        raise
    except ImportError as error:
        raise EncoderRefused(Code.MODEL_UNAVAILABLE, f"{error.name} is missing: install {EXTRA}") from error
    except Exception as error:  # The runtimes raise classes of their own, right below Exception.
        raise EncoderRefused(Code.MODEL_UNAVAILABLE, f"{model} can't be loaded: {error}") from error
    if settings.embedding_dimensions not in (None, space.dimensions):
        reason = f"{model} gives {space.dimensions} dimensions, the settings want {settings.embedding_dimensions}"
        raise EncoderRefused(Code.WRONG_DIMENSIONS, reason)
    return LocalEncoder(space, loaded, settings.local_threads)


def _load(model: str, cache: Path) -> tuple[EmbeddingSpace, Model]:
    if model == "local/multilingual-e5-small":
        from services.encoder.local import multilingual_e5

        return multilingual_e5.SPACE, multilingual_e5.open_model(cache)
    if model == "local/all-minilm-l6-v2":
        from services.encoder.local import minilm

        return minilm.SPACE, minilm.open_model(cache)
    if not Path(model).is_dir():
        raise EncoderRefused(Code.MODEL_UNAVAILABLE, f"{model} is neither a known model nor a folder")
    from services.encoder.local.folder import FolderModel

    opened = FolderModel(Path(model))
    return opened.space, opened
