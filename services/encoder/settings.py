"""Settings of the encoder. Embedder and query need the same ones."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from pydantic import AliasChoices, Field, PositiveInt, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

OPENAI_DEFAULT = "openai/text-embedding-3-small"
LOCAL_DEFAULT = "local/multilingual-e5-small"


def default_model_cache() -> Path:
    """The user's folder for what can be made again."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "agent-knowledge-base" / "models"


def usable_cores() -> int:
    """The cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class EncoderSettings(BaseSettings):
    """Which model makes the vectors, and how it is reached."""

    model_config = SettingsConfigDict(env_prefix="KB_", populate_by_name=True, extra="ignore")

    model: Annotated[
        str | None,
        Field(
            description="`openai/NAME` (any OpenAI-compatible server), `local/multilingual-e5-small`, "
            "`local/all-minilm-l6-v2`, the path of a folder with model.onnx and tokenizer.json, or `none`. "
            f"Default: `{OPENAI_DEFAULT}` with a key, `{LOCAL_DEFAULT}` without."
        ),
    ] = None
    openai_base_url: Annotated[
        str, Field(description="Where the OpenAI-compatible API is, with its version, without /embeddings.")
    ] = "https://api.openai.com/v1"
    openai_api_key: Annotated[
        SecretStr | None,
        Field(
            description="Key of the API. OPENAI_API_KEY is read too.",
            validation_alias=AliasChoices("KB_OPENAI_API_KEY", "OPENAI_API_KEY"),
        ),
    ] = None
    embedding_dimensions: Annotated[
        PositiveInt | None,
        Field(description="Length of the vectors, where the model is not known here or can give shorter ones."),
    ] = None
    embedding_timeout: Annotated[
        float, Field(gt=0, description="Seconds that one request to the provider may take from first to last byte.")
    ] = 60.0
    embedding_concurrency: Annotated[
        PositiveInt, Field(description="Requests to the provider that may run at a time, in one process.")
    ] = 8
    requests_per_minute: Annotated[
        PositiveInt | None, Field(description="The provider's limit of requests a minute, for one process.")
    ] = None
    tokens_per_minute: Annotated[
        PositiveInt | None, Field(description="The provider's limit of tokens a minute, for one process.")
    ] = None
    model_cache: Annotated[
        Path,
        Field(default_factory=default_model_cache, description="Folder in which converted local models are kept."),
    ]
    local_threads: Annotated[
        PositiveInt,
        Field(default_factory=usable_cores, description="Threads of a local model. Default: the usable cores."),
    ]

    @property
    def chosen_model(self) -> str:
        """The model, or the default that suits the key."""
        if self.model:
            return self.model
        return OPENAI_DEFAULT if self.openai_api_key else LOCAL_DEFAULT
