"""Settings of fetching over HTTP."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict


def _comma_separated(value: Any) -> Any:
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


class FetchSettings(BaseSettings):
    """How pages are fetched. Every field can be set by an environment variable: KB_FETCH_ and its name."""

    model_config = SettingsConfigDict(env_prefix="KB_FETCH_", frozen=True)

    total_seconds: float = Field(30, gt=0, description="Longest time for one page, redirects and body included.")
    connect_seconds: float = Field(10, gt=0, description="Longest time for a connection, and again for its TLS.")
    read_seconds: float = Field(15, gt=0, description="Longest silence of a host while an answer is awaited.")
    max_bytes: int = Field(20 * 2**20, gt=0, description="Largest body in bytes, counted decompressed.")
    max_redirects: int = Field(8, ge=0, description="Most redirects that are followed for one page.")
    user_agent: str = Field(
        "agent-knowledge-base/0.1", pattern=r"^[\x21-\x7e][\x20-\x7e]*$", description="The User-Agent header."
    )
    robots: bool = Field(True, description="Whether the rules and the Crawl-delay of a site's robots.txt are obeyed.")
    reader: Literal["direct", "jina"] = Field(
        "direct", description="What reads a page first: direct (from its host), or jina (a Jina Reader service)."
    )
    fallback: bool = Field(
        True, description="Whether the other reader is tried when the first one fails; jina only where it is set up."
    )
    allow_networks: Annotated[tuple[IPv4Network | IPv6Network, ...], NoDecode, BeforeValidator(_comma_separated)] = (
        Field(
            (), description="Networks or addresses, by commas, that may be fetched from on any port though not public."
        )
    )
    ports: Annotated[tuple[int, ...], NoDecode, BeforeValidator(_comma_separated)] = Field(
        (80, 443, 8080, 8443), description="Ports, by commas, that may be fetched from on public addresses."
    )
    ca_file: Path | None = Field(None, description="PEM file of authorities that are trusted beside the public ones.")
    max_connections: int = Field(64, gt=0, description="Most connections of the process at a time.")
    host_concurrency: int = Field(2, gt=0, description="Most pages that one process fetches from a host at a time.")
    host_delay_seconds: float = Field(0.5, ge=0, description="Least time between two requests to a host.")
    host_wait_seconds: float = Field(60, gt=0, description="Longest wait for a busy host before trying again later.")
