"""The command as a person runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[3]


class Ended(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    error: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Kb = Callable[..., Ended]


@pytest.fixture
def kb(tmp_path: Path) -> Kb:
    """Runs `kb` in a process of its own, in a folder where nothing runs."""

    def run(*arguments: str, **env: str) -> Ended:
        told = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PYTHONPATH": str(ROOT)}
        told |= {"KB_HOME": str(tmp_path / "home"), "KB_URL": "http://127.0.0.1:1"} | env
        command = [sys.executable, "-m", "services.cli", *arguments]
        ended = subprocess.run(command, env=told, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    return run
