"""Settings of the indexer."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class IndexerSettings(BaseSettings):
    """What the indexer does beside indexing."""

    model_config = SettingsConfigDict(env_prefix="KB_INDEXER_", frozen=True)

    upkeep_pause: float = Field(60.0, gt=0, description="Seconds between looks for statistics that are out of date.")
