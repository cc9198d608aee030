"""Where a stack that runs on this machine can be reached: it says so in a file, as long as it runs."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from schemas.codes import Code
from services.cli.failures import CommandFailed
from services.cli.settings import CommandSettings

if TYPE_CHECKING:
    from services.chassis.settings import KafkaSettings, PostgresSettings

_FILE = "stack.json"
DEFAULT_URL = "http://127.0.0.1:8800"


@dataclass(frozen=True, slots=True)
class Addresses:
    """Of one embedded stack."""

    url: str
    dsn: str
    bootstrap: str
    blobs: str


class Announcement:
    """The file, held by the process that runs the stack. The kernel lets go of it when the process ends."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, addresses: Addresses) -> None:
        """The stack is ready: others may find it."""
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, json.dumps(asdict(addresses)).encode(), 0)


@contextmanager
def announcing(home: Path) -> Iterator[Announcement]:
    """Hold the folder for one stack. Raises CommandFailed(CONFLICT) while another one has it."""
    home.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(home / _FILE, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise CommandFailed(Code.CONFLICT, f"a stack runs in {home} already") from None
    try:
        os.ftruncate(descriptor, 0)
        yield Announcement(descriptor)
    finally:
        os.ftruncate(descriptor, 0)
        os.close(descriptor)


def running_stack(home: Path) -> Addresses | None:
    """Of the stack that runs in the folder; None if none does, or it is still starting."""
    try:
        with (home / _FILE).open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                text = file.read()
                return Addresses(**json.loads(text)) if text else None
    except FileNotFoundError:
        pass
    return None


def service_url(settings: CommandSettings) -> str:
    """Where the query service answers."""
    if settings.url:
        return settings.url.rstrip("/")
    stack = running_stack(settings.folder)
    return stack.url if stack else DEFAULT_URL


def kafka_settings(settings: CommandSettings) -> KafkaSettings:
    """Of the broker that the environment names, else of the running stack's."""
    from services.chassis.settings import KafkaSettings

    stack = None if "KB_KAFKA_BOOTSTRAP" in os.environ else running_stack(settings.folder)
    return KafkaSettings(bootstrap=stack.bootstrap, idempotent=False, topic_prefix="") if stack else KafkaSettings()


def postgres_settings(settings: CommandSettings) -> PostgresSettings:
    """Of the database that the environment names, else of the running stack's."""
    from pydantic import SecretStr

    from services.chassis.settings import PostgresSettings

    stack = None if "KB_POSTGRES_DSN" in os.environ else running_stack(settings.folder)
    return PostgresSettings(dsn=SecretStr(stack.dsn)) if stack else PostgresSettings()
