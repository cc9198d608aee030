"""Places where a test lets a process die at once, to prove that nothing is lost there.

`KB_FAILPOINT=name` kills the process at the first pass through the place of that name, `name:3` at the third. With
`KB_FAILPOINT_ARMED=path` passes count from the moment at which that file exists. Without the variables a pass costs one
comparison.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

FAILPOINTS = frozenset(
    {
        "before-blob-write",
        "after-blob-write",
        "before-publish",
        "after-publish",
        "before-postgres-commit",
        "after-postgres-commit",
        "before-offset-commit",
        "after-offset-commit",
        "between-batches",
        "mid-drain",
    }
)


class _Plan:
    def __init__(self, text: str) -> None:
        self.name, _, count = text.partition(":")
        self.left = int(count or 1)
        self.armed = Path(os.environ.get("KB_FAILPOINT_ARMED", "/"))
        if self.name and self.name not in FAILPOINTS:
            raise ValueError(f"no failpoint is called {self.name!r}")


_plan = _Plan(os.environ.get("KB_FAILPOINT", ""))


def failpoint(name: str) -> None:
    """Die here with SIGKILL, if a test has asked for it."""
    if _plan.name != name or not _plan.armed.exists():
        return
    _plan.left -= 1
    if _plan.left <= 0:
        os.kill(os.getpid(), signal.SIGKILL)
