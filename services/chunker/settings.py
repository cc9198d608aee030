"""Settings of the chunker."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class ChunkerSettings(BaseSettings):
    """Bounds of parsing and of what comes out."""

    model_config = SettingsConfigDict(env_prefix="KB_CHUNKER_", frozen=True)

    workers: int = Field(1, ge=1, description="Processes that parse.")
    seconds: float = Field(60.0, gt=0, description="Time for one document.")
    memory_mib: int = Field(1024, ge=128, description="Memory of a parsing process, in MiB.")
    tokens: int = Field(200_000, ge=1, description="Size of a source in cl100k tokens.")
    recycle_after: int = Field(500, ge=1, description="Documents after which a parsing process is replaced.")
