"""The HTTP endpoint of every process: /healthz, /readyz, /metrics."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import structlog
import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from services.chassis.health import Health
from services.chassis.settings import ServerSettings

log = structlog.get_logger()


def answer(path: str, health: Health) -> tuple[int, str, bytes] | None:
    """Status, content type and body of an operational path, or None for another path."""
    if path == "/metrics":
        return 200, CONTENT_TYPE_LATEST, generate_latest()
    if path == "/healthz":
        problems = health.problems()
        return _json(503 if problems else 200, {"alive": not problems, "problems": problems})
    if path == "/readyz":
        ready = health.started and not health.stopping
        return _json(200 if ready else 503, {"ready": ready, "waiting_for_dependency": health.waiting_for()})
    return None


def _json(status: int, content: dict[str, Any]) -> tuple[int, str, bytes]:
    return status, "application/json", json.dumps(content).encode()


class OperationsApp:
    """An ASGI application that has the operational paths and nothing else."""

    def __init__(self, health: Health) -> None:
        self._health = health

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        found = answer(scope["path"], self._health) or (404, "text/plain", b"not found")
        status, content_type, body = found
        headers = [(b"content-type", content_type.encode()), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


class Endpoint(uvicorn.Server):
    """A server whose process takes care of signals itself."""

    def __init__(self, app: Any, settings: ServerSettings) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                host=settings.host,
                port=settings.port,
                log_config=None,
                access_log=False,
                lifespan="off",
                timeout_graceful_shutdown=5,
                server_header=False,
            )
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone."""
        yield

    async def startup(self, sockets: Any = None) -> None:
        """Listen, and log where."""
        await super().startup(sockets)
        for server in self.servers:
            for socket in server.sockets:
                log.info("listening", address=socket.getsockname()[:2])
