"""Settings of the reader service."""

from __future__ import annotations

from pydantic import Field, HttpUrl, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class ReaderSettings(BaseSettings):
    """A service that reads pages with a browser and speaks as Jina Reader does. It is there when URL or key is set."""

    model_config = SettingsConfigDict(env_prefix="KB_READER_", frozen=True)

    url: HttpUrl = Field(
        HttpUrl("https://r.jina.ai/"), description="Where the service is; may be private. It gets the page's URL."
    )
    key: SecretStr = Field(SecretStr(""), description="Sent to it as a bearer token.")
    seconds: float = Field(60, gt=0, description="Longest time for one page.")

    @property
    def given(self) -> bool:
        """Whether the installation says that there is such a service."""
        return bool(self.model_fields_set & {"url", "key"})
