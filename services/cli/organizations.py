"""Organizations by name, for people who try the system out: a name always leads to the same UUID."""

from __future__ import annotations

import re
from uuid import UUID, uuid5

from schemas.codes import Code
from schemas.identifiers import NAMESPACE
from services.cli.failures import CommandFailed

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")


def organization_id(text: str) -> UUID:
    """The UUID itself, or UUID version 5 of `organization:NAME` in the namespace of `schemas.identifiers`."""
    try:
        return UUID(text)
    except ValueError:
        pass
    if not _NAME.fullmatch(text):
        reason = f"{text!r} is neither a UUID nor a name of lower-case letters, digits, '.', '_' and '-'"
        raise CommandFailed(Code.REQUEST_INVALID, reason)
    return uuid5(NAMESPACE, f"organization:{text}")
