"""From settings to an encoder, or to a clear reason why there is none."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from schemas.codes import Code
from services.encoder import local
from services.encoder.errors import EncoderRefused
from services.encoder.local import minilm
from services.encoder.opening import open_encoder
from services.encoder.settings import EncoderSettings


def settings(tmp_path: Path, **values: Any) -> EncoderSettings:
    return EncoderSettings(model_cache=tmp_path / "models", **values)


async def refusal(chosen: EncoderSettings) -> EncoderRefused:
    with pytest.raises(EncoderRefused) as refused:
        await open_encoder(chosen)
    return refused.value


async def test_none_is_no_encoder(tmp_path: Path) -> None:
    assert await open_encoder(settings(tmp_path, model="none")) is None


async def test_a_provider_is_opened_without_connecting(tmp_path: Path) -> None:
    chosen = settings(
        tmp_path,
        model="openai/text-embedding-3-large",
        openai_base_url="http://127.0.0.1:1/v1",
        embedding_dimensions=256,
    )
    encoder = await open_encoder(chosen)
    assert encoder is not None
    assert encoder.space.name == "openai/text-embedding-3-large@256"
    assert encoder.limits.concurrency == chosen.embedding_concurrency
    await encoder.aclose()


@pytest.mark.parametrize("model", ["local/unknown", "/no/such/folder", "openai/", "text-embedding-3-small"])
async def test_unknown_models_are_unavailable(tmp_path: Path, model: str) -> None:
    error = await refusal(settings(tmp_path, model=model))
    assert error.code == Code.MODEL_UNAVAILABLE
    assert model in error.reason


async def test_an_empty_folder_is_unavailable(tmp_path: Path) -> None:
    assert (await refusal(settings(tmp_path, model=str(tmp_path)))).code == Code.MODEL_UNAVAILABLE


async def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    for name in [name for name in sys.modules if name.startswith("services.encoder.local.")]:
        monkeypatch.delitem(sys.modules, name)
        monkeypatch.delattr(local, name.rpartition(".")[2], raising=False)
    error = await refusal(settings(tmp_path, model="local/all-minilm-l6-v2"))
    assert error.code == Code.MODEL_UNAVAILABLE
    assert "agent-knowledge-base[local]" in error.reason


async def test_a_missing_wheel_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "WHEEL", "a-package-that-is-not-there")
    error = await refusal(settings(tmp_path, model="local/all-minilm-l6-v2"))
    assert error.code == Code.MODEL_UNAVAILABLE
    assert "a-package-that-is-not-there" in error.reason


async def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file in the place of the folder")
    error = await refusal(settings(tmp_path, model="local/all-minilm-l6-v2"))
    assert error.code == Code.MODEL_UNAVAILABLE
    assert str(tmp_path / "models") in error.reason


async def test_a_local_model_has_the_dimensions_that_it_has(tmp_path: Path) -> None:
    error = await refusal(settings(tmp_path, model="local/all-minilm-l6-v2", embedding_dimensions=512))
    assert error.code == Code.WRONG_DIMENSIONS
