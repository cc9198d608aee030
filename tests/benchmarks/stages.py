"""Each stage alone: what one core does in a second, other work on the machine left out of the account."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, TypeVar
from uuid import uuid4

from pydantic import SecretStr

from schemas.events import Event, SourceDue, SourceSubmitted
from services.chassis.blobs import BlobStore
from services.chassis.broker import Publisher
from services.chassis.delivery import Received
from services.chassis.embedded.broker import EmbeddedBroker
from services.chassis.embedded.postgres import EmbeddedPostgres
from services.chassis.migrations import migrate
from services.chassis.postgres import Postgres
from services.chassis.provisioning import apply_topics
from services.chassis.settings import BlobSettings, KafkaSettings, PostgresSettings
from services.chunker.pool import ParsingPool
from services.chunker.presets import PRESETS
from services.chunker.stage import Chunking
from services.embedder.embedding import EmbeddingRun
from services.embedder.pacing import Pacer
from services.embedder.sharing import SharedEmbedding
from services.embedder.stage import Embedding
from services.embedder.store import VectorStore
from services.encoder.openai_compatible import OpenAICompatibleEncoder
from services.fetcher.dispatching import Dispatcher
from services.fetcher.fetching import Fetching
from services.fetcher.intake import Intake
from services.fetcher.settings import DispatchSettings, IntakeSettings
from services.indexer.cutover import CutOver
from services.indexer.spaces import Spaces
from services.ledger import Ledger
from services.ledger.settings import LedgerSettings
from tests.benchmarks.machine import Clock
from tests.benchmarks.ready_made import SPACE, chunked, envelope, fetched, revisions
from tests.benchmarks.stack import DIMENSIONS, model_server
from tests.benchmarks.texts import markdown, sources

WINDOW = 64
ROUNDS = 3
ORGANIZATIONS = 8

T = TypeVar("T")
Parts = dict[str, tuple[int, str]]


class Recorder(Publisher):
    """Publishes, and remembers what."""

    def __init__(self, settings: KafkaSettings) -> None:
        super().__init__(settings, "/benchmark")
        self.events: list[Event] = []

    async def publish(self, event: Event, **given: Any) -> None:
        """Remember only what came from the ledger: the rest is large."""
        if isinstance(event, SourceDue):
            self.events.append(event)
        await super().publish(event, **given)


class Nowhere(Publisher):
    """Does everything but send."""

    def __init__(self) -> None:
        super().__init__(KafkaSettings(), "/benchmark")

    async def send(self, *_: Any, **__: Any) -> None:
        """Leave it."""


async def at_most(items: Sequence[T], do: Callable[[T], Awaitable[object]]) -> None:
    """Work on the items side by side, as many at a time as a stage's window holds."""
    slots = asyncio.Semaphore(WINDOW)

    async def one(item: T) -> None:
        async with slots:
            await do(item)

    await asyncio.gather(*(one(item) for item in items))


async def timed(items: Sequence[T], do: Callable[[T], Awaitable[object]], parts: Parts, amount: float) -> Any:
    """What comes to a second, and to a second of processor time of all parts."""
    clock = Clock(parts)
    await at_most(items, do)
    seconds, spent, others = clock.stop()
    total = max(sum(spent.values()), 0.001)
    share = {name: round(value / total, 2) for name, value in spent.items()}
    return {"per_s": amount / seconds, "per_core": amount / total, "share_of_cpu": share, "cores_of_others": others}


def summary(runs: Sequence[dict[str, Any]], unit: str, goal: float | None, digits: int = 0) -> dict[str, Any]:
    """Medians of the runs."""
    middle = {name: median(run[name] for run in runs) for name in ("per_s", "per_core", "cores_of_others")}
    found = {f"{unit}_per_core": round(middle["per_core"], digits), f"{unit}_per_s": round(middle["per_s"], digits)}
    wanted = {} if goal is None else {"goal_per_core": goal}
    all_runs = [round(run["per_core"], digits) for run in runs]
    last = {"share_of_cpu": runs[-1]["share_of_cpu"], "cores_used_by_others": round(middle["cores_of_others"], 2)}
    return wanted | found | {"all_runs": all_runs} | last


async def chunker(quick: bool) -> dict[str, Any]:
    """The pool alone in megabytes, and the whole stage with everything but the broker."""
    rng, owner = random.Random(1), uuid4()
    blobs = BlobStore(BlobSettings(url="memory://"))
    parts: Parts = {"process": (os.getpid(), "own"), "pool": (os.getpid(), "below")}
    found: dict[str, list[Any]] = {"pool": [], "stage": []}
    # A new worker would import this program, which takes longer than what a service's worker imports.
    async with ParsingPool(workers=1, tasks_per_worker=100_000) as pool:
        stage = Chunking(blobs, Nowhere(), pool, 200_000)
        for turn in range(ROUNDS + 1):
            bodies = [markdown(20, rng).encode() for _ in range(30 if quick or not turn else 120)]
            megabytes = sum(map(len, bodies)) / 1e6
            parse = partial(pool.parse_and_chunk, preset=PRESETS["default"], media_type="text/markdown")
            pooled = await timed(bodies, parse, parts, megabytes)
            events = [fetched(owner, body) for body in bodies]
            for event, body in zip(events, bodies, strict=True):
                await blobs.put(event.body_key, body)
            staged = await timed(events, stage.chunk, parts, megabytes)
            if turn:  # the first is for warming up
                found["pool"].append(pooled)
                found["stage"].append(staged)
    return {name: summary(runs, "megabytes", 3.0, 2) for name, runs in found.items()}


async def embedder(quick: bool, postgres: Postgres, publisher: Publisher, url: str) -> dict[str, Any]:
    """From a chunked event to a published embedded one, against the model server. The embedder's process alone."""
    encoder = OpenAICompatibleEncoder(SPACE.model, base_url=url, dimensions=DIMENSIONS)
    model = SharedEmbedding(EmbeddingRun(encoder, Pacer()))
    store = VectorStore(postgres, SPACE)
    await store.register()
    stage, rng, runs = Embedding(store, publisher, SPACE, model), random.Random(2), []
    owners = [uuid4() for _ in range(ORGANIZATIONS)]
    for turn in range(ROUNDS + 1):
        number = 20 if not turn else 60 if quick else 200
        events = [event for place in range(number) for event in chunked(owners[place % ORGANIZATIONS], 20, rng)]
        amount = sum(len(event.chunks) for event in events)
        runs.append(await timed(events, stage.embed, {"process": (os.getpid(), "own")}, amount))
    await model.aclose()
    await encoder.aclose()
    return summary(runs[1:], "chunks", 3_000)


_WANTED = """
insert into knowledge_source (
    organization_id, id, knowledge_base_id, kind, external_id, status, stage, due_at, wish_time)
select o, s, b, 'text', s::text, 'ingesting', 'embedding', now() + interval '1 hour', now()
from unnest(%s::uuid[], %s::uuid[], %s::uuid[]) as wanted (o, s, b)"""


async def indexer(quick: bool, postgres: Postgres, server: int) -> dict[str, Any]:
    """Ready-made revisions of 20 chunks to live ones. The process and all of Postgres."""
    cut_over, runs = CutOver(postgres, Spaces(postgres)), []
    parts: Parts = {"process": (os.getpid(), "own"), "postgres": (server, "tree")}
    owners = [uuid4() for _ in range(ORGANIZATIONS)]
    for turn in range(ROUNDS + 1):
        ready = revisions(owners, 20 if not turn else 60 if quick else 200, 20, seed=turn)
        firsts = [revision.first for revision in ready]
        for first in firsts[:ORGANIZATIONS]:
            base = (first.organization_id, first.knowledge_base_id)
            await postgres.fetch("select ensure_organization(%s, %s)", base)
        columns = [[getattr(f, name) for f in firsts] for name in ("organization_id", "source_id", "knowledge_base_id")]
        async with postgres.transaction() as connection:
            await connection.execute(_WANTED, columns)
        runs.append(await timed(ready, cut_over.make_live, parts, sum(one.chunk_count for one in ready)))
    return summary(runs[1:], "chunks", 2_500)


async def fetcher(quick: bool, postgres: Postgres, publisher: Recorder, server: int, folder: Path) -> dict[str, Any]:
    """Intake, dispatch and fetching of one-chunk texts, each by itself. The process and all of Postgres."""
    blobs = BlobStore(BlobSettings(url=f"file://{folder}"))
    intake = Intake(postgres, blobs, publisher, IntakeSettings())
    settings = DispatchSettings(in_flight=100_000, in_flight_total=100_000)
    ledger_settings = LedgerSettings()
    ledger = Ledger(postgres, ledger_settings, "fetching")
    dispatcher = Dispatcher(postgres, publisher, ledger, settings, ledger_settings)
    fetching = Fetching(postgres, blobs, publisher, None)  # type: ignore[arg-type]
    parts: Parts = {"process": (os.getpid(), "own"), "postgres": (server, "tree")}
    found: dict[str, list[Any]] = {"intake": [], "dispatch": [], "fetching": []}

    async def fetch(due: Event) -> None:
        assert isinstance(due, SourceDue)
        if await ledger.progress(due):
            await fetching.fetch(due)

    for turn in range(ROUNDS + 1):
        number = 50 if not turn else 400 if quick else 2_000
        events = sources([uuid4() for _ in range(ORGANIZATIONS)], number, 1, seed=100 + turn)
        publisher.events.clear()
        taken = await timed([_received(event) for event in events], intake.submit, parts, number)
        given = await timed([None], lambda _: dispatcher.turn(), parts, number)
        passed = await timed(publisher.events, fetch, parts, len(publisher.events))
        for name, run in (("intake", taken), ("dispatch", given), ("fetching", passed)):
            found[name] += [run] if turn else []
    return {name: summary(runs, "sources", None) for name, runs in found.items()}


def _received(event: SourceSubmitted) -> Received[SourceSubmitted]:
    attributes = envelope(event)
    assert attributes.time is not None
    return Received(event, attributes, attributes.time, b"")


async def stages(*, quick: bool) -> dict[str, Any]:
    """All of them. The chunker first, while its pool is all that runs below this process."""
    found: dict[str, Any] = {"chunker": await chunker(quick)}
    async with AsyncExitStack() as stacked:
        home = Path(stacked.enter_context(TemporaryDirectory(prefix="kb-stages-")))
        server = stacked.enter_context(EmbeddedPostgres(home / "postgres"))
        kafka = KafkaSettings(
            bootstrap=stacked.enter_context(EmbeddedBroker()).bootstrap_servers, idempotent=False, partitions=6
        )
        _, url = stacked.enter_context(model_server())
        await asyncio.to_thread(migrate, server.dsn)
        await apply_topics(kafka)
        postgres = Postgres(PostgresSettings(dsn=SecretStr(server.dsn), role="kb_pipeline"))
        publisher = Recorder(kafka)
        for opened in (postgres, publisher):
            await opened.open()
            stacked.push_async_callback(opened.close)
        found["embedder"] = await embedder(quick, postgres, publisher, url)
        found["indexer"] = await indexer(quick, postgres, server.pid or 0)
        found["fetcher"] = await fetcher(quick, postgres, publisher, server.pid or 0, home / "blobs")
        return found
