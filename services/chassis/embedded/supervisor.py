"""Keeps child processes running, and ends them all together.

    async with Supervisor() as supervisor:
        await supervisor.start(*children)
        await supervisor.run()

The first SIGINT, SIGTERM or SIGHUP ends the block wherever it is: the children get SIGTERM in reverse order, and the
program goes on behind the block. A second one kills them at once. The children never see the terminal's Ctrl-C, and
they are killed if this process is.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Protocol

import structlog

from services.chassis.embedded.errors import EmbeddedError
from services.chassis.embedded.processes import POLL_SECONDS, ChildProcess

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
# Who ran that long has not crashed at its start: the pauses begin anew.
STEADY_SECONDS = 60.0
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Server(Protocol):
    """An embedded server, which the caller starts and stops."""

    @property
    def running(self) -> bool: ...
    def start(self) -> None: ...


def pause(crashes: int) -> float:
    """Seconds before the restart after so many crashes in a row."""
    return float(min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** min(crashes - 1, 10)))


def _to_log(message: str) -> None:
    structlog.get_logger("supervisor").info(message)


class Supervisor:
    """Owns the children that it starts. `ready_within` and `grace` are seconds for each; `say` is told what happens."""

    def __init__(
        self, *, ready_within: float = 60.0, grace: float = 15.0, say: Callable[[str], None] = _to_log
    ) -> None:
        self._ready_within, self._grace, self._say = ready_within, grace, say
        self._children: list[ChildProcess] = []
        self._watchers: list[asyncio.Task[None]] = []
        # Ended on purpose: their watchers wait.
        self._held: set[ChildProcess] = set()
        self._hurry = asyncio.Event()
        self._owner: asyncio.Task[object] | None = None
        self._signalled = False

    async def start(self, *children: ChildProcess) -> None:
        """Starts them together and returns when all are ready. Raises the first StartFailed; those up stay up."""
        for child in children:
            self._children.append(child)
            child.start()
        waits = [asyncio.ensure_future(child.ready(self._ready_within)) for child in children]
        try:
            await asyncio.gather(*waits)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
        self._watchers += [asyncio.create_task(self._watch(child)) for child in children]

    def guard(
        self,
        name: str,
        server: Server,
        then: Callable[[], Awaitable[None]] | None = None,
        clients: Sequence[ChildProcess] = (),
    ) -> None:
        """Also starts a server again when it has crashed, and calls `then`, as what it held can be lost.

        `clients` are ended before and started again after that, where they must not meet a server that is empty.
        """
        self._watchers.append(asyncio.create_task(self._watch_server(name, server, then, clients)))

    async def run(self) -> None:
        """Never returns; a signal or an error of the supervisor itself ends it."""
        await asyncio.gather(asyncio.Event().wait(), *self._watchers)

    async def stop(self) -> None:
        """Ends all children, the last started first. Nothing is restarted any more."""
        for watcher in self._watchers:
            watcher.cancel()
        await asyncio.gather(*self._watchers, return_exceptions=True)
        self._watchers.clear()
        while self._children:
            await self._children[-1].stop(self._grace, self._hurry)
            self._children.pop()

    async def __aenter__(self) -> Supervisor:
        self._owner = asyncio.current_task()
        for number in SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, self._on_signal, number)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> bool:
        try:
            await self.stop()
        finally:
            for number in SIGNALS:
                asyncio.get_running_loop().remove_signal_handler(number)
        if not (self._signalled and isinstance(error, asyncio.CancelledError) and self._owner):
            return False
        # The cancellation was ours. Somebody else's on top of it goes on.
        return self._owner.uncancel() == 0

    def _on_signal(self, number: signal.Signals) -> None:
        if self._signalled:
            self._hurry.set()
        elif self._owner:
            self._signalled = True
            self._say(f"{signal.Signals(number).name}: stopping")
            self._owner.cancel()

    async def _watch(self, child: ChildProcess) -> None:
        crashes = 0
        while True:
            await child.ended()
            await self._released(child)
            if child.exit_code is None:
                continue
            crashes = 1 if child.uptime > STEADY_SECONDS else crashes + 1
            seconds = pause(crashes)
            self._say(
                f"{child.name} ended with exit code {child.exit_code}; again in {seconds:g} s (see {child.log_path})"
            )
            await asyncio.sleep(seconds)
            await self._released(child)
            if child.exit_code is not None:
                child.start()
            try:
                await child.ready(self._ready_within)
            except EmbeddedError as error:
                self._say(str(error))
            else:
                self._say(f"{child.name} is back")

    async def _released(self, child: ChildProcess) -> None:
        while child in self._held:  # noqa: ASYNC110
            await asyncio.sleep(POLL_SECONDS)

    async def _watch_server(
        self, name: str, server: Server, then: Callable[[], Awaitable[None]] | None, clients: Sequence[ChildProcess]
    ) -> None:
        crashes = 0
        while True:
            # One that runs but could not be filled is filled again.
            while server.running and crashes == 0:  # noqa: ASYNC110
                await asyncio.sleep(POLL_SECONDS)
            crashes += 1
            self._say(f"{name} ended; again in {pause(crashes):g} s")
            self._held.update(clients)
            await asyncio.gather(*(client.stop(self._grace, self._hurry) for client in clients))
            await asyncio.sleep(pause(crashes))
            try:
                await asyncio.to_thread(server.start)
                if then:
                    await then()
            except EmbeddedError as error:
                self._say(str(error))
                continue
            for client in clients:
                client.start()
            self._held.difference_update(clients)
            crashes = 0
            self._say(f"{name} is back")
