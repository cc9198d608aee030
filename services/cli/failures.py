"""What a command says when it can't do what it was asked: a stable code, a reason, an exit code."""

from __future__ import annotations

import json
import sys

from schemas.codes import Code
from services.chassis.errors import KnowledgeBaseError, SourceRefused

FAILED = 1
REFUSED = 3
"""Exit code where the document is at fault."""


class CommandFailed(Exception):
    """The command ends here. `code` is one of `schemas.codes`, or what the query service answered."""

    def __init__(self, code: str, reason: str, exit_code: int = FAILED) -> None:
        super().__init__(f"{code}: {reason}")
        self.code = code
        self.reason = reason
        self.exit_code = exit_code


def as_failure(error: Exception) -> CommandFailed | None:
    """The failure that an error of the rooms stands for; None for one that nobody expected."""
    if isinstance(error, CommandFailed):
        return error
    if isinstance(error, KnowledgeBaseError):
        return CommandFailed(error.code, error.reason, REFUSED if isinstance(error, SourceRefused) else FAILED)
    return _of_library(error)


def _of_library(error: Exception) -> CommandFailed | None:
    # By the names of their modules, since a library that was never imported has raised nothing.
    root = type(error).__module__.partition(".")[0]
    names = {parent.__name__ for parent in type(error).__mro__}
    if "EncoderError" in names:
        return CommandFailed(str(getattr(error, "code", Code.PROVIDER_DOWN)), str(error))
    if "EmbeddedError" in names or "MigrationChanged" in names:
        return CommandFailed(Code.INTERNAL, str(error))
    if root in ("psycopg", "psycopg_pool"):
        return CommandFailed(Code.POSTGRES_DOWN, str(error).strip())
    if root == "aiokafka":
        return CommandFailed(Code.BROKER_DOWN, str(error) or type(error).__name__)
    if root == "pydantic_core":
        return CommandFailed(Code.REQUEST_INVALID, str(error))
    return None


def report(failure: CommandFailed, as_json: bool) -> None:
    """Print it: as JSON on standard output where results are JSON, else as a line on standard error."""
    if as_json:
        print(json.dumps({"error": {"code": failure.code, "message": failure.reason}}, ensure_ascii=False))
    else:
        print(f"{failure.code}: {failure.reason}", file=sys.stderr)
