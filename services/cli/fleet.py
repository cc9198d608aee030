"""The five services as child processes of one machine, and what each is told by its environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from services.chassis.embedded.ports import free_port
from services.chassis.embedded.processes import ChildProcess

SERVICES = ("fetcher", "chunker", "embedder", "indexer", "query")
_ROLES = {"query": "kb_query"}
_PASSED_ON = ("KB_", "OPENAI_", "XDG_")
_BASICS = ("PATH", "HOME", "PYTHONPATH", "TMPDIR", "SSL_CERT_FILE")


@dataclass
class Fleet:
    """Makes the processes. `env` is put over what all services are told; `own` over what one of them is."""

    dsn: str
    bootstrap: str
    home: Path
    idempotent: bool = False
    query_port: int = 0
    log_format: str = "json"
    env: Mapping[str, str] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)

    def child(self, service: str, own: Mapping[str, str] | None = None, number: int = 0) -> ChildProcess:
        """One process of a service, not started. Further ones of the same service have other numbers."""
        port = self.query_port if service == "query" and self.query_port and not number else free_port()
        name = f"{service}-{number}" if number else service
        self.ports[name] = port
        return ChildProcess(
            name,
            [sys.executable, "-m", f"services.{service}"],
            self.environment(service, port) | dict(own or {}),
            self.home / "logs" / f"{name}.log",
            f"http://127.0.0.1:{port}/readyz",
        )

    def children(self, services: Iterable[str] = SERVICES) -> list[ChildProcess]:
        """One process of each service."""
        return [self.child(service) for service in services]

    @property
    def blob_url(self) -> str:
        """Where the bodies lie."""
        return f"file://{self.home / 'blobs'}"

    def url(self, service: str) -> str:
        """Where a process of the fleet answers."""
        return f"http://127.0.0.1:{self.ports[service]}"

    def environment(self, service: str, port: int) -> dict[str, str]:
        """What a process of the service is told."""
        inherited = {name: value for name, value in os.environ.items() if name.startswith(_PASSED_ON)}
        basics = {name: os.environ[name] for name in _BASICS if name in os.environ}
        defaults = {
            "KB_LOG_FORMAT": self.log_format,
            # Without it the threads of numerical libraries multiply with the processes.
            "OMP_NUM_THREADS": "1",
            # An allocator arena for each thread keeps memory that nobody uses.
            "MALLOC_ARENA_MAX": "2",
        }
        if not self.idempotent:
            # The embedded broker lets a member into a group after half of it.
            defaults["KB_KAFKA_SESSION_TIMEOUT"] = "3"
            # It looks for new messages after a quarter of the time for which a fetch may wait, not as they come.
            defaults["KB_KAFKA_FETCH_WAIT"] = "0.1"
        told = {
            "KB_KAFKA_BOOTSTRAP": self.bootstrap,
            "KB_KAFKA_IDEMPOTENT": str(self.idempotent).lower(),
            "KB_POSTGRES_DSN": self.dsn,
            "KB_POSTGRES_ROLE": _ROLES.get(service, "kb_pipeline"),
            "KB_BLOB_URL": self.blob_url,
            "KB_SERVER_HOST": "127.0.0.1",
            "KB_SERVER_PORT": str(port),
        }
        return basics | defaults | inherited | told | dict(self.env)
