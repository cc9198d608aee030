"""The system that is evaluated: the one that the environment names, or one of the evaluation's own in KB_HOME."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from pydantic import SecretStr

from schemas.codes import Code
from services.chassis.blobs import BlobStore
from services.chassis.broker import Publisher
from services.chassis.embedded.ports import free_port
from services.chassis.embedded.supervisor import Supervisor
from services.chassis.migrations import all_migrations
from services.chassis.postgres import Postgres
from services.chassis.settings import BlobSettings, KafkaSettings, PostgresSettings
from services.cli.addresses import Addresses, announcing
from services.cli.failures import CommandFailed
from services.cli.settings import CommandSettings
from services.cli.stack import Say, Stack
from services.encoder.encoder import Encoder
from services.encoder.opening import open_encoder
from services.encoder.settings import EncoderSettings

_RUNNING = ("KB_POSTGRES_DSN", "KB_KAFKA_BOOTSTRAP", "KB_BLOB_URL")
_CURRENT_SPACE = "select name from embedding_space where is_current"


@dataclass(frozen=True, slots=True)
class System:
    """What the evaluation needs of it. `postgres` sees what the query service sees."""

    postgres: Postgres
    publisher: Publisher
    blobs: BlobStore
    encoder: Encoder | None

    @property
    def space(self) -> str | None:
        """The embedding space of documents and queries."""
        return self.encoder.space.name if self.encoder else None


Work = Callable[[System], Awaitable[int]]


async def with_system(settings: CommandSettings, work: Work, say: Say, *, fresh: bool = False) -> int:
    """Do the work on a system; gives its result, or INTERRUPTED. `fresh` forgets what the own one has kept.

    Raises CommandFailed, EmbeddedError, DependencyDown, EncoderError, and what the work raises.
    """
    is_running = all(name in os.environ for name in _RUNNING)
    if is_running and fresh:
        raise CommandFailed(Code.REQUEST_INVALID, "nothing is forgotten in a system that the environment names")
    # Before anything is started: a model that can't be had is the likeliest mistake.
    encoder = await open_encoder(EncoderSettings())
    try:
        if not is_running:
            return await _on_own(settings, encoder, work, say, fresh=fresh)
        async with _opened(KafkaSettings(), PostgresSettings(), BlobSettings(), encoder) as system:
            return await work(system)
    finally:
        if encoder is not None:
            await encoder.aclose()


async def _on_own(settings: CommandSettings, encoder: Encoder | None, work: Work, say: Say, *, fresh: bool) -> int:
    folder = own_folder(settings, EncoderSettings())
    say(f"what is ingested is kept in {folder}")
    if fresh:
        _forget(folder)

    async def on_stack(addresses: Addresses, supervisor: Supervisor) -> int:
        kafka = KafkaSettings(bootstrap=addresses.bootstrap, idempotent=False, topic_prefix="")
        postgres = PostgresSettings(dsn=SecretStr(addresses.dsn))
        async with _opened(kafka, postgres, BlobSettings(url=addresses.blobs), encoder) as system:
            return await work(system)

    own = settings.model_copy(update={"home": folder, "port": free_port(), "broker_port": free_port()})
    return await Stack(own, say).run(on_stack)


def own_folder(settings: CommandSettings, encoder: EncoderSettings) -> Path:
    """Of the own system. What another model or schema made is of no use, so those two are part of the name."""
    marks = [encoder.chosen_model, str(encoder.embedding_dimensions), *(step.checksum for step in all_migrations())]
    name = re.sub(r"[^\w.-]+", "-", encoder.chosen_model).strip("-")[-40:]
    return settings.folder / "evaluation" / f"{name}-{sha256(' '.join(marks).encode()).hexdigest()[:12]}"


def _forget(folder: Path) -> None:
    with announcing(folder):  # refused while another evaluation uses it
        for each in folder.iterdir():
            if each.is_dir():
                shutil.rmtree(each)


@asynccontextmanager
async def _opened(
    kafka: KafkaSettings, postgres: PostgresSettings, blobs: BlobSettings, encoder: Encoder | None
) -> AsyncIterator[System]:
    database = Postgres(postgres.model_copy(update={"role": "kb_query", "pool": 2}))
    system = System(database, Publisher(kafka, "/kb/eval"), await asyncio.to_thread(BlobStore, blobs), encoder)
    try:
        await database.open()
        await _check_space(system)
        await system.publisher.open()
        yield system
    finally:
        await system.publisher.close()
        await database.close()


async def _check_space(system: System) -> None:
    current = [name for (name,) in await system.postgres.fetch(_CURRENT_SPACE)]
    if current != ([system.space] if system.space else []):
        reason = f"the system embeds in {' '.join(current) or 'no space'}, queries in {system.space or 'none'}"
        raise CommandFailed(Code.CONFLICT, reason)
