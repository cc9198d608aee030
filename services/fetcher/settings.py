"""Settings of the fetcher."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class DispatchSettings(BaseSettings):
    """How the ledger gives out work."""

    model_config = SettingsConfigDict(env_prefix="KB_DISPATCH_", frozen=True)

    in_flight: int = Field(8, ge=1, description="Sources of one organization in the pipeline at a time.")
    in_flight_total: int = Field(256, ge=1, description="Sources of all organizations in the pipeline at a time.")
    poll: float = Field(0.25, gt=0, description="Seconds between looks at the ledger when nothing is due.")
    busy_poll: float = Field(0.02, gt=0, description="Seconds between looks when something waits for room.")


class CrawlSettings(BaseSettings):
    """How sites are crawled."""

    model_config = SettingsConfigDict(env_prefix="KB_CRAWL_", frozen=True)

    look: float = Field(1.0, gt=0, description="Seconds between looks whether the last page of a crawl has come.")


class PromotionSettings(BaseSettings):
    """What agents' fetches may bring in."""

    model_config = SettingsConfigDict(env_prefix="KB_PROMOTION_", frozen=True)

    daily: int = Field(50, ge=0, description="Pages that an organization's agents bring in within a day.")
    again_days: float = Field(30.0, ge=0, description="Days before a page that is there is fetched again.")


class IntakeSettings(BaseSettings):
    """What is taken in."""

    model_config = SettingsConfigDict(env_prefix="KB_INTAKE_", frozen=True)

    remember_days: float = Field(30.0, gt=0, description="Days that ids of taken events are kept.")
