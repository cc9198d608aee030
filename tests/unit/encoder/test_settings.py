"""What the environment decides about the encoder."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from services.encoder.settings import EncoderSettings


@pytest.fixture(autouse=True)
def _empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "KB_OPENAI_API_KEY", "KB_MODEL", "KB_MODEL_CACHE"):
        monkeypatch.delenv(name, raising=False)


def test_without_a_key_the_model_is_local() -> None:
    assert EncoderSettings().chosen_model == "local/multilingual-e5-small"


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "KB_OPENAI_API_KEY"])
def test_with_a_key_the_model_is_the_providers(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "sk-secret")
    settings = EncoderSettings()
    assert settings.chosen_model == "openai/text-embedding-3-small"
    assert "secret" not in repr(settings)


def test_own_key_goes_before_the_general_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "general")
    monkeypatch.setenv("KB_OPENAI_API_KEY", "own")
    key = EncoderSettings().openai_api_key
    assert key is not None
    assert key.get_secret_value() == "own"


def test_a_named_model_goes_before_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_OPENAI_API_KEY", "key")
    monkeypatch.setenv("KB_MODEL", "none")
    assert EncoderSettings().chosen_model == "none"


def test_cache_lies_in_the_users_cache_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert EncoderSettings().model_cache == Path("/somewhere/agent-knowledge-base/models")


@pytest.mark.parametrize(
    ("field", "value"), [("embedding_timeout", 0), ("tokens_per_minute", 0), ("embedding_dimensions", -1)]
)
def test_what_makes_no_sense_is_refused(field: str, value: int) -> None:
    with pytest.raises(ValidationError):
        EncoderSettings.model_validate({field: value})


def test_every_setting_is_described() -> None:
    assert [name for name, field in EncoderSettings.model_fields.items() if not field.description] == []
