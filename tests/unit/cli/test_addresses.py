"""How commands find the stack of a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.cli.addresses import DEFAULT_URL, Addresses, announcing, kafka_settings, running_stack, service_url
from services.cli.failures import CommandFailed
from services.cli.settings import CommandSettings

STACK = Addresses("http://127.0.0.1:8123", "postgresql:///kb", "127.0.0.1:9123", "file:///blobs")


def test_a_stack_is_found_while_it_runs(tmp_path: Path) -> None:
    assert running_stack(tmp_path) is None
    with announcing(tmp_path) as announcement:
        assert running_stack(tmp_path) is None
        announcement.write(STACK)
        assert running_stack(tmp_path) == STACK
    assert running_stack(tmp_path) is None


def test_a_folder_has_one_stack(tmp_path: Path) -> None:
    with announcing(tmp_path), pytest.raises(CommandFailed, match="CONFLICT"), announcing(tmp_path):
        pass


def test_what_a_killed_stack_has_left_counts_for_nothing(tmp_path: Path) -> None:
    (tmp_path / "stack.json").write_text('{"url": "http://127.0.0.1:1"}')
    assert running_stack(tmp_path) is None


def test_the_environment_comes_first_then_the_stack_then_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("KB_URL", "KB_HOME", "KB_KAFKA_BOOTSTRAP"):
        monkeypatch.delenv(name, raising=False)
    settings = CommandSettings(home=tmp_path)
    assert service_url(settings) == DEFAULT_URL
    with announcing(tmp_path) as announcement:
        announcement.write(STACK)
        assert service_url(settings) == STACK.url
        assert service_url(CommandSettings(home=tmp_path, url="http://elsewhere/")) == "http://elsewhere"
        assert kafka_settings(settings).bootstrap == STACK.bootstrap
        monkeypatch.setenv("KB_KAFKA_BOOTSTRAP", "127.0.0.1:7")
        assert kafka_settings(settings).bootstrap == "127.0.0.1:7"
