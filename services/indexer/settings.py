"""Settings of the indexer."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class UpkeepSettings(BaseSettings):
    """What the indexer keeps of large organizations, so that searches in them stay quick."""

    model_config = SettingsConfigDict(env_prefix="KB_UPKEEP_", frozen=True)

    pause: float = Field(60.0, gt=0, description="Seconds between looks for what has fallen behind.")
    least_chunks: int = Field(2_000, ge=1, description="Chunks from which on an organization is kept up.")
    patience: int = Field(200, ge=0, description="New chunks of an organization that searches read in full meanwhile.")
    index_chunks: int = Field(20_000, ge=1, description="Chunks from which on it has a vector index of its own.")
    index_memory_mb: int = Field(
        1_024, ge=64, description="Memory of Postgres for the building of one such index, at most."
    )
    index_workers: int = Field(
        0, ge=0, description="Postgres' parallel workers for it, which take that memory as shared memory."
    )
    retention_pause: float = Field(600.0, gt=0, description="Seconds between looks for records that are too old.")
