"""What surrounds the application: operational paths, the request's id, the bound of bodies, unexpected errors."""

from __future__ import annotations

import re
import time
from typing import Any
from uuid import uuid4

import structlog
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from schemas.codes import Code
from services.chassis.endpoint import answer
from services.chassis.health import Health
from services.query.api import problems

log = structlog.get_logger()

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._:-]{1,64}")


class Frame:
    """An ASGI application around another. It answers every request, whatever the inner one raises."""

    def __init__(self, app: ASGIApp, health: Health, largest: int) -> None:
        """`largest` is the number of bytes that a body may have."""
        self._app = app
        self._health = health
        self._largest = largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        if (found := answer(scope["path"], self._health)) is not None:
            await _send(send, *found)
            return
        given = dict(scope["headers"]).get(b"x-request-id", b"")
        request_id = given.decode() if _REQUEST_ID.fullmatch(given) else uuid4().hex
        scope["request_id"] = request_id
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            await self._answer(scope, receive, send, request_id)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, request_id: str) -> None:
        started, status, is_complete = time.perf_counter(), 0, False

        async def send_with_id(message: Message) -> None:
            nonlocal status, is_complete
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", request_id.encode())]
            await send(message)
            is_complete = message["type"] == "http.response.body" and not message.get("more_body")

        try:
            await self._app(scope, self._bounded(receive), send_with_id)
        except Exception as error:
            log.exception("a request failed", method=scope["method"], path=scope["path"])
            if not status:
                body = problems.document(Code.INTERNAL, 500, type(error).__name__, request_id=request_id)
                await _send(send_with_id, 500, problems.MEDIA_TYPE, body)
            elif not is_complete:
                raise  # breaks the connection off, so that nobody takes a part for the whole
        seconds = round(time.perf_counter() - started, 4)
        log.debug("answered", method=scope["method"], path=scope["path"], status=status, seconds=seconds)

    def _bounded(self, receive: Receive) -> Receive:
        left = self._largest

        async def receive_bounded() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise HTTPException(413, f"the body has more than {self._largest} bytes")
            return message

        return receive_bounded


async def _send(send: Any, status: int, content_type: str, body: bytes) -> None:
    headers = [(b"content-type", content_type.encode()), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
