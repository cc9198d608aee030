"""Settings of the ledger, the same for all stages of an installation."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class LedgerSettings(BaseSettings):
    """Leases and new tries."""

    model_config = SettingsConfigDict(env_prefix="KB_LEDGER_", frozen=True)

    lease: float = Field(600.0, gt=0, description="Seconds without progress after which a source is given out again.")
    attempts: int = Field(6, ge=1, description="Tries of a revision whose failures may pass.")
    retry_pause: float = Field(5.0, gt=0, description="Seconds before the second try; doubled for each further one.")
    lapses: int = Field(5, ge=1, description="Leases in a row that may run out without progress.")
    pause_note: float = Field(60.0, gt=0, description="Seconds that a stage's note of a pause holds.")
