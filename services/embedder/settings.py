"""Settings of the embedder, beside those of the encoder."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class EmbedderSettings(BaseSettings):
    """How the provider is used."""

    model_config = SettingsConfigDict(env_prefix="KB_EMBEDDER_", frozen=True)

    patience: float = Field(10.0, ge=0, description="Seconds of new tries in place before the stage says it waits.")
