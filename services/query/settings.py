"""Settings of the query service."""

from __future__ import annotations

from uuid import UUID

from pydantic import AliasChoices, Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class AccessSettings(BaseSettings):
    """Who may ask."""

    model_config = SettingsConfigDict(env_prefix="KB_QUERY_", frozen=True, populate_by_name=True)

    open: bool = Field(
        False,
        description="No key is asked for: whoever reaches the port is an administrator of the organization that the "
        "header X-Organization names. Only on a loopback address.",
    )
    organization: UUID = Field(
        UUID("00000000-0000-4000-8000-000000000001"), description="Without the header X-Organization, when open."
    )
    public_organization: UUID | None = Field(
        None,
        validation_alias=AliasChoices("KB_PUBLIC_ORGANIZATION"),
        description="The operators' organization, whose public knowledge bases everyone may read.",
    )
    key_seconds: float = Field(5.0, ge=0, description="Seconds that a key is known without asking the database.")


class SearchSettings(BaseSettings):
    """How searches are answered."""

    model_config = SettingsConfigDict(env_prefix="KB_SEARCH_", frozen=True)

    model_timeout: float = Field(3.0, gt=0, description="Seconds that the model may take for a query's vector.")
    model_concurrency: int = Field(8, ge=1, description="Queries that are with the model at a time.")
    model_pause: float = Field(2.0, ge=0, description="Seconds without a new try after the model did not answer.")
    cached_vectors: int = Field(2048, ge=0, description="Query vectors that are kept.")


class QueryLogSettings(BaseSettings):
    """What is noted of searches, and how. How long it is kept is a setting of the chassis."""

    model_config = SettingsConfigDict(env_prefix="KB_QUERY_LOG_", frozen=True)

    text: bool = Field(True, description="Keep the texts of queries, which can hold personal data.")
    waiting: int = Field(5000, ge=1, description="Searches that may wait to be written; more are not noted.")
    pause: float = Field(1.0, ge=0, description="Seconds in which searches gather to be written together.")
    retry_pause: float = Field(5.0, ge=0, description="Seconds before a new try while Postgres does not take them.")
    drain_timeout: float = Field(5.0, gt=0, description="Seconds to write what waits at a stop.")


class RequestSettings(BaseSettings):
    """Bounds of requests, and how long writes wait."""

    model_config = SettingsConfigDict(env_prefix="KB_REQUEST_", frozen=True)

    largest: int = Field(64 * 1024**2, ge=1024, description="Bytes of a request's body, uploads included.")
    publish_timeout: float = Field(5.0, gt=0, description="Seconds for the broker to confirm a wish.")
    intake_wait: float = Field(2.0, ge=0, description="Seconds that a write waits until the ledger has taken it.")
