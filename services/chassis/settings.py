"""Pieces of settings that services compose. Each reads its own environment variables, all of which begin with KB_."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class KafkaSettings(BaseSettings):
    """The broker."""

    model_config = SettingsConfigDict(env_prefix="KB_KAFKA_", frozen=True)

    bootstrap: str = Field("127.0.0.1:9092", description="Brokers to begin with, as host:port, separated by commas.")
    topic_prefix: str = Field("", description="In front of the names of all topics and groups, to share a cluster.")
    idempotent: bool = Field(True, description="Idempotent producer. Off for brokers that have none (tansu).")
    compression: Literal["none", "gzip", "lz4", "zstd"] = Field("none", description="Of what is published.")
    replication: int = Field(1, ge=1, description="Replicas of each topic that is made.")
    partitions: int | None = Field(None, ge=1, description="Of each topic, instead of the topic table's number.")
    session_timeout: float = Field(30.0, gt=0, description="Seconds without a heartbeat after which a consumer is out.")
    fetch_wait: float = Field(0.5, gt=0, description="Seconds that a fetch may wait at the broker for messages.")
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field("PLAINTEXT", description="")
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = Field("PLAIN", description="With SASL.")
    username: str | None = Field(None, description="With SASL.")
    password: SecretStr | None = Field(None, description="With SASL.")


class DeliverySettings(BaseSettings):
    """How a stage works through its topics."""

    model_config = SettingsConfigDict(env_prefix="KB_DELIVERY_", frozen=True)

    window: int = Field(64, ge=1, description="Messages that a process works on at a time.")
    handler_timeout: float = Field(900.0, gt=0, description="Seconds that one message may take.")
    drain_timeout: float = Field(20.0, gt=0, description="Seconds for work in hand at a stop or a rebalance.")
    pause: float = Field(0.5, gt=0, description="Seconds before a first new try when a dependency is down.")
    longest_pause: float = Field(15.0, gt=0, description="Seconds that the pause grows to.")
    surprises: int = Field(3, ge=1, description="Tries of a message whose handler raises an unexpected error.")
    dead_letter_window: int = Field(500, ge=1, description="Messages over which the ratio of dead letters is taken.")
    dead_letter_ratio: float = Field(0.2, gt=0, le=1, description="Above it the consumer stops instead of draining.")
    dead_letter_floor: int = Field(50, ge=1, description="Dead letters in the window that are always allowed.")


class PostgresSettings(BaseSettings):
    """The database."""

    model_config = SettingsConfigDict(env_prefix="KB_POSTGRES_", frozen=True)

    dsn: SecretStr = Field(SecretStr("postgresql://127.0.0.1:5432/kb"), description="Connection string of libpq.")
    role: str | None = Field(None, description="Role to take on after the login, such as kb_pipeline or kb_query.")
    pool: int = Field(6, ge=1, description="Connections of a process at most.")
    timeout: float = Field(10.0, gt=0, description="Seconds to wait for a connection.")


class BlobSettings(BaseSettings):
    """The store of raw bodies."""

    model_config = SettingsConfigDict(env_prefix="KB_BLOB_", frozen=True)

    url: str = Field(
        "file:///var/lib/agent-knowledge-base/blobs",
        description="file:///folder, s3://bucket/prefix, gs://bucket/prefix, az://container/prefix or memory://.",
    )
    endpoint: str | None = Field(None, description="Of an S3-compatible store that is not Amazon's.")


class ServerSettings(BaseSettings):
    """The HTTP endpoint that every process has: /healthz, /readyz, /metrics."""

    model_config = SettingsConfigDict(env_prefix="KB_SERVER_", frozen=True)

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(0, ge=0, le=65535, description="Port to listen on; 0: any free one, which the log names.")


class RetentionSettings(BaseSettings):
    """How long records are kept that nothing is answered from."""

    model_config = SettingsConfigDict(env_prefix="KB_", frozen=True)

    query_log_retention_days: int = Field(
        90, ge=0, description="Days after its end that a month of logged searches is kept; 0: searches are not logged."
    )


class LogSettings(BaseSettings):
    """The log, on standard error."""

    model_config = SettingsConfigDict(env_prefix="KB_LOG_", frozen=True)

    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="Least severity that is written.")
    format: Literal["json", "text"] = Field("json", description="One JSON object a line, or text for a terminal.")


def default_home() -> Path:
    """The folder in which the embedded stack keeps its data."""
    return Path(".kb").resolve()
