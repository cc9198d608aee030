"""The error tree. A class says what happens next; the code says why, in words that `schemas.codes` explains.

KnowledgeBaseError
├── SourceRefused     the document is at fault: the source fails with the code
├── RetryLater        this one source can't be done now: the ledger tries again, with growing pauses
├── DependencyDown    nothing can be done now: the stage pauses in place, no attempt is consumed
├── EventRefused      the message can never be processed: it goes to the dead-letter topic
└── RequestRefused    a caller asked for something impossible: a problem document with the code
"""

from __future__ import annotations

from schemas.codes import Code


class KnowledgeBaseError(Exception):
    """Base of every error with a stable code."""

    def __init__(self, code: Code, reason: str) -> None:
        super().__init__(f"{code}: {reason}")
        self.code = code
        self.reason = reason

    def __reduce__(self) -> tuple[type[KnowledgeBaseError], tuple[Code, str]]:
        # Parsing runs in another process, from which the error comes back pickled.
        return type(self), (self.code, self.reason)


class SourceRefused(KnowledgeBaseError):
    """The document can't become chunks, however often it is tried."""


class RetryLater(KnowledgeBaseError):
    """This source can't be done now. `after` is the least number of seconds to wait, where the other side said so.

    `counted` is False where it is no fault of the source or its host, such as a wait for a turn: no attempt is used up.
    """

    def __init__(self, code: Code, reason: str, after: float | None = None, *, counted: bool = True) -> None:
        super().__init__(code, reason)
        self.after = after
        self.counted = counted


class DependencyDown(KnowledgeBaseError):
    """Something that every source needs is away. `after` is the least number of seconds to wait, where it said so."""

    def __init__(self, code: Code, reason: str, after: float | None = None) -> None:
        super().__init__(code, reason)
        self.after = after


class EventRefused(KnowledgeBaseError):
    """The message is not one that this consumer can ever process."""


class RequestRefused(KnowledgeBaseError):
    """What the caller asked for can't be done. `status` is the HTTP status of the answer."""

    def __init__(self, code: Code, reason: str, status: int = 422) -> None:
        super().__init__(code, reason)
        self.status = status
