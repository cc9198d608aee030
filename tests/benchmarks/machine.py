"""What processes cost: processor time, memory, and how much of the machine others had meanwhile."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import psutil

MB = 1024 * 1024


def own_seconds(pid: int) -> float:
    """Processor time of one process so far."""
    if pid == os.getpid():
        return time.process_time()  # finer than the hundredths of a second that are known of others
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system)


def below_seconds(pid: int) -> float:
    """Processor time of all processes below one, those that have ended included."""
    try:
        root = psutil.Process(pid)
        times = root.cpu_times()
        total = times.children_user + times.children_system
        for child in root.children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                total += sum(child.cpu_times()[:4])
    except psutil.NoSuchProcess:
        return 0.0
    return float(total)


def tree_seconds(pid: int) -> float:
    """Processor time of a process and all below it."""
    return own_seconds(pid) + below_seconds(pid)


def tree(pid: int) -> list[int]:
    """A process and all below it that run."""
    try:
        return [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]
    except psutil.NoSuchProcess:
        return []


def memory(pid: int) -> dict[str, float]:
    """Resident megabytes now, and the most since the start or `forget_peak`."""
    fields = {}
    with suppress(FileNotFoundError, ProcessLookupError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            fields[name] = value
    return {
        short: round(int(fields[name].split()[0]) / 1024, 1)
        for short, name in (("now", "VmRSS"), ("peak", "VmHWM"))
        if name in fields
    }


def forget_peak(pid: int) -> None:
    """Let the peak be counted from now on."""
    with suppress(OSError):
        Path(f"/proc/{pid}/clear_refs").write_text("5")


class Clock:
    """From its making on: time that passed, and processor time of named parts and of everything else."""

    def __init__(self, parts: Mapping[str, tuple[int, str]]) -> None:
        """`parts` are pid and what counts of it: own, below or tree."""
        self._parts = dict(parts)
        self._begun = time.perf_counter()
        self._at_first = self._spent()
        self._busy_at_first = _busy_seconds()

    def _spent(self) -> dict[str, float]:
        ways = {"own": own_seconds, "below": below_seconds, "tree": tree_seconds}
        return {name: ways[way](pid) for name, (pid, way) in self._parts.items()}

    @property
    def seconds(self) -> float:
        """Since it was made."""
        return time.perf_counter() - self._begun

    def stop(self) -> tuple[float, dict[str, float], float]:
        """Seconds, processor seconds by part, and cores that others were busy on, on average."""
        seconds, busy = self.seconds, _busy_seconds() - self._busy_at_first
        spent = {name: now - self._at_first[name] for name, now in self._spent().items()}
        return seconds, spent, max(0.0, (busy - sum(spent.values())) / seconds)


def _busy_seconds() -> float:
    times = psutil.cpu_times()
    return float(times.user + times.nice + times.system + getattr(times, "irq", 0.0) + getattr(times, "softirq", 0.0))


def description() -> dict[str, object]:
    """The machine, and what it is busy with."""
    return {
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 1e9, 1),
        "load_average": [round(load, 2) for load in os.getloadavg()],
    }
