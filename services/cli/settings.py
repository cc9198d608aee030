"""Settings of the command line."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class CommandSettings(BaseSettings):
    """Where commands find what they talk to, and where `kb up` puts it."""

    model_config = SettingsConfigDict(env_prefix="KB_", frozen=True)

    home: Path = Field(Path(".kb"), description="Folder of the embedded stack: database, bodies, logs.")
    port: int = Field(8800, ge=1, le=65535, description="Port of the query service that `kb up` starts.")
    broker_port: int = Field(
        9092, ge=1, le=65535, description="Port of the broker that `kb up` starts, if it is free; else any."
    )
    url: str | None = Field(
        None,
        description="Where the query service answers. Default: where the stack in KB_HOME does, "
        "else http://127.0.0.1:8800.",
    )
    api_key: SecretStr | None = Field(None, description="Key for the query service.")

    @property
    def folder(self) -> Path:
        """`home`, absolute."""
        return self.home.expanduser().absolute()
