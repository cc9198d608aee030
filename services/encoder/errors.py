"""What an encoder can raise, cut by what the caller does next.

EncoderError
├── EncoderUnavailable   nobody can be served now: wait, then send the same again
├── EncoderRefused       sending the same again is useless: the code says why
└── RequestTooLarge      the request is above a limit of the provider: send it in parts
"""

from __future__ import annotations

from schemas.codes import Code


class EncoderError(Exception):
    """Base of what an encoder raises."""


class EncoderUnavailable(EncoderError):
    """Time-out, no connection, an overloaded or broken server, too many requests.

    `retry_after` is the number of seconds that the provider asked to wait, where it said so.
    """

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason, retry_after)
        self.reason = reason
        self.retry_after = retry_after

    def __str__(self) -> str:
        return self.reason


class EncoderRefused(EncoderError):
    """The model, the key or an input is not accepted, or the answer is unusable.

    `by_input` says that a single input of the request may be at fault, so that the others are worth sending without it.
    """

    def __init__(self, code: Code, reason: str, *, by_input: bool = False) -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason
        self.by_input = by_input

    def __str__(self) -> str:
        return f"{self.code}: {self.reason}"


class RequestTooLarge(EncoderError):
    """The provider counted more inputs or tokens in one request, or in one input, than it takes."""
