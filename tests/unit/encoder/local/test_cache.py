"""A converted model is in the cache whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from schemas.codes import Code
from services.encoder.errors import EncoderRefused
from services.encoder.local.cache import cached_model


def write(folder: Path) -> None:
    (folder / "model").write_text("whole")


def never(folder: Path) -> None:
    raise AssertionError(f"{folder} is built again")


def test_a_model_is_built_once(tmp_path: Path) -> None:
    folder = cached_model(tmp_path / "deep" / "cache", "model-1", write)
    assert (folder / "model").read_text() == "whole"
    assert cached_model(tmp_path / "deep" / "cache", "model-1", never) == folder


def test_a_failed_build_leaves_nothing(tmp_path: Path) -> None:
    def half(folder: Path) -> None:
        write(folder)
        raise ValueError("half way")

    with pytest.raises(ValueError, match="half way"):
        cached_model(tmp_path, "model-1", half)
    assert [path.name for path in tmp_path.iterdir()] == ["model-1.lock"]
    assert (cached_model(tmp_path, "model-1", write) / "model").exists()


def test_what_a_killed_build_left_is_removed(tmp_path: Path) -> None:
    left = tmp_path / ".model-1.abc"
    left.mkdir()
    other = tmp_path / ".model-12.abc"
    other.mkdir()
    cached_model(tmp_path, "model-1", write)
    assert not left.exists()
    assert other.exists()


def test_a_full_or_forbidden_disk_is_a_clear_reason(tmp_path: Path) -> None:
    def full(folder: Path) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(EncoderRefused, match="No space left") as refused:
        cached_model(tmp_path, "model-1", full)
    assert refused.value.code == Code.MODEL_UNAVAILABLE
