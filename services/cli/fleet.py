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
            self._environment(service, port) | dict(own or {}),
            self.home / "logs" / f"{name}.log",
            f"http://127.0.0.1:{port}/readyz",
        )

    def children(self, services: Iterable[str] = SERVICES) -> list[ChildProcess]:
        """One process of each service."""
        return [self.child(service) for service in services]

    def url(self, service: str) -> str:
        """Where a process of the fleet answers."""
        return f"http://127.0.0.1:{self.ports[service]}"

    def _environment(self, service: str, port: int) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if name.startswith(_PASSED_ON)}
        basics = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH", "TMPDIR") if name in os.environ}
        told = {
            "KB_KAFKA_BOOTSTRAP": self.bootstrap,
            "KB_KAFKA_IDEMPOTENT": str(self.idempotent).lower(),
            # The embedded broker lets members join after half of it.
            "KB_KAFKA_SESSION_TIMEOUT": "30" if self.idempotent else "3",
            "KB_POSTGRES_DSN": self.dsn,
            "KB_POSTGRES_ROLE": _ROLES.get(service, "kb_pipeline"),
            "KB_BLOB_URL": f"file://{self.home / 'blobs'}",
            "KB_SERVER_HOST": "127.0.0.1",
            "KB_SERVER_PORT": str(port),
            "KB_LOG_FORMAT": self.log_format,
            # Without it the threads of numerical libraries multiply with the processes.
            "OMP_NUM_THREADS": "1",
            # An allocator arena for each thread keeps memory that nobody uses.
            "MALLOC_ARENA_MAX": "2",
        }
        return basics | told | inherited | dict(self.env)
