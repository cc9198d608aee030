"""A provider of embeddings on loopback, over real HTTP, that speaks OpenAI's embeddings API and can be told to fail.

In a test: `with EmbeddingProvider() as provider:` and `provider.base_url`. As a process: `python -m
tests.support.provider --port N`. Vectors come from the words of a text alone, so texts with the
same words are near each other, in every process.

    POST /v1/embeddings   the API; a request above a limit is answered 400 in OpenAI's words
    POST /faults          one JSON object or a list of them, see Fault; they are used up in order
    DELETE /faults        forget what is left of them
    GET /stats            what was asked so far, see Stats
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import re
import socket
import string
import threading
import time
import zlib
from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any, Literal, Self

import numpy as np
import uvicorn
from numpy.typing import NDArray

from services.encoder.tokens import count_tokens

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

KNOWN_DIMENSIONS = {"text-embedding-3-small": 1_536, "text-embedding-3-large": 3_072, "text-embedding-ada-002": 1_536}


@dataclass(frozen=True)
class Fault:
    """What happens to the next `times` requests.

    status: an error answer with `status` and, where given, `retry_after` as the header. hang: no answer until the
    client leaves. drop: the connection breaks in the middle of the answer. drip: a byte a tenth of a second.
    dimensions: one dimension too few. zeros, nan: one bad vector, of input `position` or of each that contains `text`.
    count: one vector too few. garbage: a page of HTML with status 200.
    """

    kind: Literal["status", "hang", "drop", "drip", "dimensions", "zeros", "nan", "count", "garbage"]
    times: int = 1
    status: int = 500
    retry_after: str | None = None
    message: str = "a fault was asked for"
    code: str | None = None
    position: int = 0
    text: str | None = None


@dataclass
class Stats:
    """Requests that came, and what the answered ones held. Tokens are the estimate, a quarter of the UTF-8 bytes."""

    requests: int = 0
    answered: int = 0
    inputs: int = 0
    tokens: int = 0
    most_at_once: int = 0
    sizes: list[int] = field(default_factory=list)


@dataclass
class ServedLimits:
    """Above these a request is answered 400."""

    max_inputs: int = 2_048
    max_tokens_per_request: int = 300_000
    max_tokens_per_input: int = 8_192


class EmbeddingProvider:
    """The server. It runs in a thread while the context is open, or in the caller's loop with `serve`."""

    def __init__(
        self,
        *,
        port: int = 0,
        dimensions: int | None = None,
        delay: float = 0.0,
        api_key: str | None = None,
        limits: ServedLimits | None = None,
    ) -> None:
        """`delay` is in seconds for each request. With `api_key` every other key is refused."""
        self.dimensions, self.delay, self.api_key = dimensions, delay, api_key
        self.limits = limits or ServedLimits()
        self.stats = Stats()
        self._faults: deque[Fault] = deque()
        self._running = 0
        self._socket = socket.create_server(("127.0.0.1", port))
        # Without it the second part of each answer waits 40 ms for the client's acknowledgement of the first.
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.port: int = self._socket.getsockname()[1]
        self.base_url = f"http://127.0.0.1:{self.port}/v1"
        config = uvicorn.Config(
            self, lifespan="off", log_level="error", access_log=False, ws="none", timeout_graceful_shutdown=1
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=lambda: asyncio.run(self.serve()), name="provider", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        while not self._server.started:
            time.sleep(0.002)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()

    async def serve(self) -> None:
        """Serve until told to end."""
        await self._server.serve(sockets=[self._socket])

    def fail(self, *faults: Fault) -> None:
        """Queue faults for the requests that come next."""
        self._faults.extend(fault for fault in faults for _ in range(fault.times))

    @property
    def faults_left(self) -> int:
        """Kinds of faults that have not all happened yet."""
        return len(self._faults)

    def forget_faults(self) -> None:
        """Answer properly again."""
        self._faults.clear()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """The ASGI application."""
        body = await _body(receive)
        route = (scope["method"], scope["path"])
        if route == ("POST", "/v1/embeddings"):
            await self._embeddings(scope, body, receive, send)
        elif route == ("POST", "/faults"):
            asked = json.loads(body)
            self.fail(*(Fault(**each) for each in (asked if isinstance(asked, list) else [asked])))
            await _answer(send, 200, {"faults": len(self._faults)})
        elif route == ("DELETE", "/faults"):
            self.forget_faults()
            await _answer(send, 200, {"faults": 0})
        elif route == ("GET", "/stats"):
            await _answer(send, 200, asdict(self.stats))
        else:
            await _answer(send, 404, _problem(f"no route {route}"))

    async def _embeddings(self, scope: Message, body: bytes, receive: Receive, send: Send) -> None:
        self.stats.requests += 1
        self._running += 1
        self.stats.most_at_once = max(self.stats.most_at_once, self._running)
        try:
            fault = self._faults.popleft() if self._faults else None
            if self.delay:
                await asyncio.sleep(self.delay)
            await self._answer_request(dict(scope["headers"]), json.loads(body), fault, receive, send)
        finally:
            self._running -= 1

    async def _answer_request(
        self, headers: dict[bytes, bytes], asked: Message, fault: Fault | None, receive: Receive, send: Send
    ) -> None:
        texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
        if self.api_key is not None and headers.get(b"authorization") != f"Bearer {self.api_key}".encode():
            await _answer(send, 401, _problem("Incorrect API key provided", code="invalid_api_key"))
        elif fault is not None and fault.kind in ("status", "hang", "drop", "drip", "garbage"):
            await _fail(fault, receive, send)
        elif (complaint := self._complaint(asked, texts)) is not None:
            await _answer(send, *complaint)
        else:
            await _answer(send, 200, self._vectors(asked, texts, fault))

    def _complaint(self, asked: Message, texts: list[str]) -> tuple[int, Message] | None:
        """The error answer to a request that the real API would not take."""
        if self._dimensions(asked) is None:
            return 404, _problem(f"The model `{asked['model']}` does not exist", code="model_not_found")
        if not texts or "" in texts:
            return 400, _problem("'$.input' is invalid. Please check the API reference")
        if len(texts) > self.limits.max_inputs:
            text = f"Invalid 'input': array too long. Expected an array with maximum length {self.limits.max_inputs}"
            return 400, _problem(text, code="array_above_max_length")
        tokens, most = _estimate(texts), self.limits.max_tokens_per_request
        if tokens > most:
            text = f"Requested {tokens} tokens, max {most} tokens per request"
            return 400, _problem(text, type="max_tokens_per_request")
        longest = self.limits.max_tokens_per_input
        if any(len(text) * 4 > longest and count_tokens(text) > longest for text in texts):
            return 400, _problem(f"This model's maximum context length is {longest} tokens")
        return None

    def _dimensions(self, asked: Message) -> int | None:
        return asked.get("dimensions") or self.dimensions or KNOWN_DIMENSIONS.get(asked["model"])

    def _vectors(self, asked: Message, texts: list[str], fault: Fault | None) -> bytes:
        vectors = bag_vectors(texts, self._dimensions(asked) or 0)
        if fault is not None:
            vectors = _spoilt(vectors, texts, fault)
        as_numbers = asked.get("encoding_format", "float") == "float"
        tokens = _estimate(texts)
        self.stats.answered += 1
        self.stats.inputs += len(texts)
        self.stats.tokens += tokens
        self.stats.sizes.append(len(texts))
        rest = {"object": "list", "model": asked["model"], "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}
        data = b",".join(_entry(index, vector, as_numbers) for index, vector in enumerate(vectors))
        return b'{"data":[%b],%b' % (data, json.dumps(rest).encode()[1:])


class _WordNumbers(dict[bytes, int]):
    """The number of a word, the same in every process."""

    def __missing__(self, word: bytes) -> int:
        if len(self) > 200_000:
            self.clear()
        number = self[word] = zlib.crc32(word)
        return number


_NUMBERS = _WordNumbers()
_TO_SPACES = bytes.maketrans(string.punctuation.encode(), b" " * len(string.punctuation))
_WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+")
_MULTIPLIERS = np.array([0x9E3779B1, 0x85EBCA6B], np.uint64)


def bag_vectors(texts: list[str], dimensions: int) -> NDArray[np.float32]:
    """One vector of length 1 for each text, shape (texts, dimensions): each word adds to two places of its own."""
    bags = [list(map(_NUMBERS.__getitem__, _words(text))) or [0] for text in texts]
    owners = np.repeat(np.arange(len(bags)), [len(bag) for bag in bags])
    hashes = np.fromiter(chain.from_iterable(bags), np.uint64)[:, None] * _MULTIPLIERS
    places = owners[:, None] * dimensions + (hashes >> np.uint64(20)).astype(np.int64) % dimensions
    signs = ((hashes >> np.uint64(19)) & np.uint64(1)).astype(np.float64) * 2 - 1
    flat = np.bincount(places.ravel(), signs.ravel(), len(texts) * dimensions)
    vectors = flat.reshape(len(texts), dimensions).astype(np.float32)
    vectors[:, 0] += 1e-3
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def _words(text: str) -> list[bytes]:
    """A word is a run of letters and digits, or one sign of a script without spaces."""
    if text.isascii():
        return text.encode().lower().translate(_TO_SPACES).split()
    return [word.encode() for word in _WORDS.findall(text.lower())]


def _spoilt(vectors: NDArray[np.float32], texts: list[str], fault: Fault) -> NDArray[np.float32]:
    if fault.kind == "dimensions":
        return vectors[:, :-1]
    if fault.kind == "count":
        return vectors[:-1]
    wrong = [index for index, text in enumerate(texts) if fault.text in text] if fault.text else [fault.position]
    vectors[[index for index in wrong if index < len(vectors)]] = np.nan if fault.kind == "nan" else 0
    return vectors


async def _fail(fault: Fault, receive: Receive, send: Send) -> None:
    if fault.kind == "status":
        headers = {} if fault.retry_after is None else {"retry-after": fault.retry_after}
        await _answer(send, fault.status, _problem(fault.message, code=fault.code), headers)
    elif fault.kind == "garbage":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
        await send({"type": "http.response.body", "body": b"<html>Welcome to the captive portal</html>"})
    elif fault.kind == "hang":
        while (await receive())["type"] != "http.disconnect":
            pass
    else:
        # A body shorter than it was announced: the server closes the connection.
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1000")]})
        for _ in range(1 if fault.kind == "drop" else 500):
            await send({"type": "http.response.body", "body": b" ", "more_body": True})
            await asyncio.sleep(0 if fault.kind == "drop" else 0.1)


async def _body(receive: Receive) -> bytes:
    parts = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


async def _answer(send: Send, status: int, content: Message | bytes, headers: dict[str, str] | None = None) -> None:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    pairs = {"content-type": "application/json", "content-length": str(len(body)), **(headers or {})}
    encoded = [(name.encode(), value.encode()) for name, value in pairs.items()]
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})


def _problem(message: str, *, type: str = "invalid_request_error", code: str | None = None) -> Message:
    return {"error": {"message": message, "type": type, "param": None, "code": code}}


def _entry(index: int, vector: NDArray[np.float32], as_numbers: bool) -> bytes:
    """Put together by hand: the json module would look through each base64 text for something to escape."""
    value = json.dumps(vector.tolist()).encode() if as_numbers else b'"%b"' % base64.b64encode(vector.tobytes())
    return b'{"object":"embedding","index":%d,"embedding":%b}' % (index, value)


def _estimate(texts: list[str]) -> int:
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) // 4


def main() -> None:
    """Run as a process until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--dimensions", type=int)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds for each request")
    parser.add_argument("--api-key")
    asked = parser.parse_args()
    provider = EmbeddingProvider(port=asked.port, dimensions=asked.dimensions, delay=asked.delay, api_key=asked.api_key)
    print(provider.base_url, flush=True)
    asyncio.run(provider.serve())


if __name__ == "__main__":
    main()
