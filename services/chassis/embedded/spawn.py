"""Starts a program that can't outlive this process, and tells when it has ended."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from pathlib import Path

from services.chassis.embedded.account import Account

LAUNCHER = Path(__file__).with_name("launch.py")


class Child:
    """One running program, the leader of a session and a process group of its own."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._swept = False
        self.pid = process.pid

    def exit_code(self) -> int | None:
        """None while it runs; minus the signal's number if one ended it. What it left in its group is killed."""
        code = self._process.poll()
        if code is not None:
            self._sweep()
        return code

    def send(self, number: signal.Signals) -> None:
        """Signals the program alone, not its children. Nothing happens if it has ended."""
        self._process.send_signal(number)

    def wait(self, seconds: float) -> bool:
        """Blocks until it has ended; False if it still runs after that many seconds."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        self._sweep()
        return True

    def kill(self) -> None:
        """SIGKILL for the program and its group, and wait."""
        if self._process.poll() is None:
            self._kill_group()
        self._process.wait()
        self._sweep()

    def stop(self, *signals: tuple[signal.Signals, float]) -> None:
        """Sends each signal and gives it that many seconds; kills in the end."""
        for number, grace in signals:
            self.send(number)
            if self.wait(grace):
                return
        self.kill()

    def _sweep(self) -> None:
        # Once, at its end: later the number can belong to another group.
        if not self._swept:
            self._swept = True
            self._kill_group()

    def _kill_group(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)


def spawn(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    log: Path | None = None,
    cwd: Path | None = None,
    account: Account | None = None,
    reach: bool = False,
    death_signal: signal.Signals = signal.SIGKILL,
) -> Child:
    """Starts `argv` with exactly this environment. Output is appended to `log`, or dropped without one.

    `death_signal` reaches it when this process dies, however that happens (Linux). `account` is who it runs as, and
    `reach` lets that account pass folders that are closed to it; both are for root only.
    """
    command = [sys.executable, "-I", "-S", str(LAUNCHER), str(os.getpid()), str(int(death_signal))]
    command += [str(account.uid), str(account.gid)] if account else ["-", "-"]
    program = shutil.which(argv[0], path=env.get("PATH")) or argv[0]
    command += ["reach" if reach else "-", program, *argv[1:]]
    return _forking_thread(os.getpid()).submit(_open, command, env, log, cwd).result()


@cache
def _forking_thread(pid: int) -> ThreadPoolExecutor:
    # The kernel sends the death signal at the end of the *thread* that forked. So one thread, which lives as long as
    # the process, forks for all; by pid, since a forked process has none of its parent's threads.
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"fork-{pid}")


def _open(command: list[str], env: Mapping[str, str], log: Path | None, cwd: Path | None) -> Child:
    if log is None:
        return _popen(command, env, cwd, subprocess.DEVNULL)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as file:
        return _popen(command, env, cwd, file.fileno())


def _popen(command: list[str], env: Mapping[str, str], cwd: Path | None, output: int) -> Child:
    process = subprocess.Popen(
        command,
        env=dict(env),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    return Child(process)
