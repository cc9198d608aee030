"""A web server on loopback that serves folders, and misbehaves in every way that a test asks for.

    async with WebServer() as web:
        web.serve_folder(root)
        web.at("/slow", drip(b"x", every=0.05))
        await fetcher.fetch(web.url("/slow"))
        assert web.requests[0].headers["user-agent"]

A behaviour is an async callable (Request, StreamWriter) -> None that writes the raw answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import mimetypes
import ssl
import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate, parsedate_to_datetime
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from typing import Self
from urllib.parse import unquote, urlsplit


@dataclass(frozen=True)
class Request:
    """A request as it came. path: decoded, without the query. headers: names in lower case."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]


Behaviour = Callable[[Request, asyncio.StreamWriter], Awaitable[None]]


class WebServer:
    """The server. Each connection carries one request. `requests` and `connections` record what came."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[Request] = []
        self.connections = 0
        self.port = 0
        self._tls = tls
        self._behaviours: dict[str, Behaviour] = {}
        self._folder: Path | None = None
        self._server: asyncio.Server | None = None
        self._answers: set[asyncio.Task[None]] = set()

    def at(self, path: str, behaviour: Behaviour) -> str:
        """Answers this path so from now on. Gives back its URL."""
        self._behaviours[path] = behaviour
        return self.url(path)

    def serve_folder(self, root: Path) -> None:
        """Serves the files below root, `index.html` for a folder, with validators and conditional requests."""
        self._folder = root

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        """The URL of a path, to be used while the server runs."""
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}{path}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for answer in self._answers:
            answer.cancel()
        await asyncio.gather(*self._answers, return_exceptions=True)
        await self._server.wait_closed()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        answer = asyncio.create_task(self._answer(reader, writer))
        self._answers.add(answer)
        answer.add_done_callback(self._answers.discard)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A client that hangs up is what many tests are about.
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            try:
                request = _parsed(await reader.readuntil(b"\r\n\r\n"))
                self.requests.append(request)
                await self._behaviour(request)(request, writer)
            finally:
                writer.close()
                await writer.wait_closed()

    def _behaviour(self, request: Request) -> Behaviour:
        if request.path in self._behaviours:
            return self._behaviours[request.path]
        file = self._file(request.path)
        return status(404) if file is None else _file_reply(file)

    def _file(self, path: str) -> Path | None:
        if self._folder is None:
            return None
        file = (self._folder / path.lstrip("/")).resolve()
        file = file / "index.html" if file.is_dir() else file
        return file if file.is_file() and file.is_relative_to(self._folder.resolve()) else None


@dataclass
class Reply:
    """A behaviour: one whole answer. `length` overrides the Content-Length, so that it can lie."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None

    async def __call__(self, request: Request, writer: asyncio.StreamWriter) -> None:
        length = len(self.body) if self.length is None else self.length
        await _send(writer, head(self.status, {"Content-Length": str(length), **self.headers}) + self.body)


def page(html: str, **headers: str) -> Reply:
    """An HTML page in UTF-8. Header names are given with underscores."""
    return Reply(html.encode(), headers={"Content-Type": "text/html; charset=utf-8", **_named(headers)})


def status(code: int, **headers: str) -> Reply:
    """An answer that is just a status. Header names are given with underscores."""
    return Reply(b"nothing here", code, _named(headers))


def redirect(location: str, code: int = 302) -> Reply:
    """A redirect, word for word to `location`."""
    return Reply(b"", code, {"Location": location})


def conditional(body: bytes, etag: str | None = None, last_modified: str | None = None) -> Behaviour:
    """A page with validators: 304 when one of them comes back."""
    named = {"ETag": etag, "Last-Modified": last_modified}
    headers = {name: value for name, value in named.items() if value is not None}

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        sent = (request.headers.get("if-none-match"), request.headers.get("if-modified-since"))
        same = (etag is not None and sent[0] == etag) or (last_modified is not None and sent[1] == last_modified)
        if same:
            await _send(writer, head(304, headers))
        else:
            await Reply(body, headers={"Content-Type": "text/html", **headers})(request, writer)

    return answer


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """One behaviour after the other, the last one for good."""
    left = list(behaviours)

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        await (left.pop(0) if len(left) > 1 else left[0])(request, writer)

    return answer


def chunked(*parts: bytes, ended: bool = True, **headers: str) -> Behaviour:
    """A body in HTTP chunks. Without `ended` the connection breaks before the last one."""

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        await _send(writer, head(200, {"Transfer-Encoding": "chunked", **_named(headers)}))
        for part in parts:
            await _send(writer, b"%x\r\n%s\r\n" % (len(part), part))
        if ended:
            await _send(writer, b"0\r\n\r\n")

    return answer


def endless(part: bytes = b"x" * 65_536, **headers: str) -> Behaviour:
    """A body that never ends, as fast as it is taken."""

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        await _send(writer, head(200, {"Content-Type": "text/html", **_named(headers)}))
        while True:
            await _send(writer, part)

    return answer


def drip(part: bytes = b"x", every: float = 0.05) -> Behaviour:
    """A body that never ends, a part every so many seconds: no single read takes long."""

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        await _send(writer, head(200, {"Content-Type": "text/html"}))
        while True:
            await _send(writer, part)
            await asyncio.sleep(every)

    return answer


def silent(seconds: float = 3_600) -> Behaviour:
    """Takes the request and says nothing."""

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(seconds)

    return answer


def raw(data: bytes) -> Behaviour:
    """Exactly these bytes, then the end of the connection."""

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        await _send(writer, data)

    return answer


def gzip_bomb(mebibytes: int) -> Behaviour:
    """A page of so many MiB once it is decompressed, a thousandth of that on the wire, sent at once."""

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        squeeze = zlib.compressobj(9, wbits=16 + zlib.MAX_WBITS)
        body = b"".join(squeeze.compress(b"\0" * 2**20) for _ in range(mebibytes)) + squeeze.flush()
        await Reply(body, headers={"Content-Type": "text/html", "Content-Encoding": "gzip"})(request, writer)

    return answer


def head(code: int, headers: Mapping[str, str]) -> bytes:
    """The status line and the headers."""
    phrase = HTTPStatus(code).phrase if code in set(HTTPStatus) else "Unknown"
    lines = [f"HTTP/1.1 {code} {phrase}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode()


def _named(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


async def _send(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(data)
    await writer.drain()


def _parsed(data: bytes) -> Request:
    first, *lines = data.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, target, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines)
    parts = urlsplit(f"http://host{target}")
    return Request(method, unquote(parts.path), parts.query, {name.lower(): value.strip() for name, _, value in pairs})


def _file_reply(file: Path) -> Behaviour:
    body = file.read_bytes()
    changed = formatdate(file.stat().st_mtime, usegmt=True)
    etag = f'"{sha256(body).hexdigest()[:16]}"'
    headers = {
        "Content-Type": mimetypes.guess_type(file.name)[0] or "application/octet-stream",
        "ETag": etag,
        "Last-Modified": changed,
    }

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        same = request.headers.get("if-none-match") == etag
        since = request.headers.get("if-modified-since")
        if "if-none-match" not in request.headers and since:
            same = parsedate_to_datetime(since) >= parsedate_to_datetime(changed)
        if same:
            await _send(writer, head(304, headers))
        else:
            await Reply(body, headers=headers)(request, writer)

    return answer
