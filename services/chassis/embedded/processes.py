"""One service as a child process: started, asked whether it is ready, ended."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx

from services.chassis.embedded.errors import StartFailed
from services.chassis.embedded.spawn import Child, spawn

POLL_SECONDS = 0.1
ANSWER_SECONDS = 2.0


class ChildProcess:
    """A program that runs until it is stopped. Without a `health_url` it counts as ready once it runs."""

    def __init__(
        self,
        name: str,
        argv: Sequence[str],
        env: Mapping[str, str],
        log_path: Path,
        health_url: str | None = None,
        *,
        cwd: Path | None = None,
    ) -> None:
        self.name = name
        self.log_path = log_path
        self._argv, self._env, self._health_url, self._cwd = argv, env, health_url, cwd
        self._child: Child | None = None
        self._started = 0.0

    @property
    def pid(self) -> int | None:
        """Of the running process."""
        return self._child.pid if self._child and self._child.exit_code() is None else None

    @property
    def exit_code(self) -> int | None:
        """How it ended, -N for signal N; None while it runs or if it was never started."""
        return self._child.exit_code() if self._child else None

    @property
    def uptime(self) -> float:
        """Seconds since the last start."""
        return time.monotonic() - self._started

    def start(self) -> None:
        """Starts it and does not wait. Raises OSError if the machine can't."""
        self._child = spawn(self._argv, env=self._env, log=self.log_path, cwd=self._cwd)
        self._started = time.monotonic()

    async def ready(self, seconds: float) -> None:
        """Returns once `health_url` answers 200. Raises StartFailed with the log's tail if it ends or is late."""
        deadline = time.monotonic() + seconds
        async with httpx.AsyncClient(trust_env=False, timeout=ANSWER_SECONDS) as client:
            while not await self._answers(client):
                if self.exit_code is not None:
                    raise StartFailed(self.name, f"it ended with exit code {self.exit_code}", self.log_path)
                if time.monotonic() > deadline:
                    raise StartFailed(self.name, f"not ready within {seconds:g} s", self.log_path)
                await asyncio.sleep(POLL_SECONDS)

    async def ended(self) -> None:
        """Returns within a tenth of a second of its end."""
        while self.exit_code is None:  # noqa: ASYNC110 - nothing portable tells of a process's end
            await asyncio.sleep(POLL_SECONDS)

    async def stop(self, grace: float, hurry: asyncio.Event | None = None) -> None:
        """SIGTERM, then SIGKILL after `grace` seconds or as soon as `hurry` is set."""
        if self._child is None:
            return
        self._child.send(signal.SIGTERM)
        ends = [asyncio.create_task(self.ended()), asyncio.create_task((hurry or asyncio.Event()).wait())]
        await asyncio.wait(ends, timeout=grace, return_when=asyncio.FIRST_COMPLETED)
        for end in ends:
            end.cancel()
        self._child.kill()

    def terminate(self) -> None:
        """SIGTERM, without waiting."""
        if self._child is not None:
            self._child.send(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL."""
        if self._child is not None:
            self._child.kill()

    async def _answers(self, client: httpx.AsyncClient) -> bool:
        # A process that has ended is not ready, whoever answers on its port.
        if self.exit_code is not None:
            return False
        if self._health_url is None:
            return True
        try:
            return (await client.get(self._health_url)).status_code == httpx.codes.OK
        except httpx.TransportError:
            return False
