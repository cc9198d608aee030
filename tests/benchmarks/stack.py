"""A whole system for a benchmark: Postgres with fsync, a broker, a model server, and the services as processes."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families

from services.chassis.embedded.broker import EmbeddedBroker
from services.chassis.embedded.ports import free_port, is_free, wait_until
from services.chassis.embedded.postgres import EmbeddedPostgres
from services.chassis.embedded.spawn import spawn
from tests.support.kafka import ApacheKafka
from tests.support.pipeline import Pipeline, pipeline

DIMENSIONS = 1_536
PARTITIONS = 6

Spent = Mapping[tuple[str, str], tuple[float, float]]
"""Sum and count of a histogram, by its name and topic."""


@dataclass
class Stack:
    """Everything that runs. `server` is the model server's pid, where there is one."""

    pipeline: Pipeline
    postgres: EmbeddedPostgres
    broker: EmbeddedBroker | ApacheKafka
    server: int | None
    server_url: str | None

    def parts(self) -> dict[str, tuple[int, str]]:
        """What processor time is counted for, see `machine.Clock`."""
        found = {"postgres": (self.postgres.pid or 0, "tree"), "broker": (_broker_pid(self.broker), "tree")}
        for child in self.pipeline.running:
            found[child.name] = (child.pid or 0, "own")
            if child.name == "chunker":
                found["chunker's pool"] = (child.pid or 0, "below")
        if self.server is not None:
            found["model server"] = (self.server, "tree")
        return found | {"benchmark": (os.getpid(), "own")}

    def spent(self) -> dict[tuple[str, str], tuple[float, float]]:
        """Seconds and messages so far of the histograms of waiting and handling, over all services."""
        sums: dict[tuple[str, str, str], float] = {}
        for child in self.pipeline.running:
            text = httpx.get(f"{self.pipeline.fleet.url(child.name)}/metrics", trust_env=False).text
            for family in text_string_to_metric_families(text):
                if family.name not in ("kb_waiting_seconds", "kb_handling_seconds"):
                    continue
                for sample in family.samples:
                    what = sample.name.removeprefix(family.name)
                    key = (family.name, sample.labels.get("topic", ""), what)
                    if what in ("_sum", "_count"):
                        sums[key] = sums.get(key, 0.0) + sample.value
        names = {key[:2] for key in sums}
        return {(n, t): (sums.get((n, t, "_sum"), 0.0), sums.get((n, t, "_count"), 0.0)) for n, t in names}


def milliseconds(before: Spent, after: Spent) -> dict[str, dict[str, float]]:
    """Milliseconds that a message waited and was worked on, on average, by topic."""
    found: dict[str, dict[str, float]] = {}
    for (name, topic), (total, number) in sorted(after.items()):
        total_before, number_before = before.get((name, topic), (0.0, 0.0))
        if number > number_before:
            mean = 1000 * (total - total_before) / (number - number_before)
            found.setdefault(topic, {})[name.removeprefix("kb_").removesuffix("_seconds")] = round(mean, 1)
    return found


@contextlib.contextmanager
def model_server() -> Iterator[tuple[int, str]]:
    """The model server of the tests as a process of its own, which ends with this one: pid and base URL."""
    port = free_port()
    child = spawn([sys.executable, "-m", "tests.support.provider", "--port", str(port)], env=os.environ)
    try:
        if not wait_until(lambda: child.exit_code() is not None or not is_free(port), 30.0):
            raise TimeoutError("the model server does not answer")
        yield child.pid, f"http://127.0.0.1:{port}/v1"
    finally:
        child.kill()


def model_env(url: str) -> dict[str, str]:
    """Lets services use the model server."""
    return {
        "KB_MODEL": "openai/text-embedding-3-small",
        "KB_OPENAI_BASE_URL": url,
        "KB_OPENAI_API_KEY": "benchmark",
        "KB_EMBEDDING_DIMENSIONS": str(DIMENSIONS),
    }


@contextlib.asynccontextmanager
async def stack(
    kind: str = "tansu", *, local_model: str | None = None, env: Mapping[str, str] | None = None
) -> AsyncIterator[Stack]:
    """Everything, started. `kind` is tansu or kafka; with `local_model` there is no model server."""
    with contextlib.ExitStack() as stacked:
        home = Path(stacked.enter_context(tempfile.TemporaryDirectory(prefix="kb-benchmark-")))
        server, url = (None, None) if local_model else stacked.enter_context(model_server())
        model = {"KB_MODEL": local_model} if local_model else model_env(url or "")
        postgres = stacked.enter_context(EmbeddedPostgres(home / "postgres"))
        broker = stacked.enter_context(ApacheKafka(home / "kafka") if kind == "kafka" else EmbeddedBroker())
        async with pipeline(
            postgres.dsn,
            broker.bootstrap_servers,
            home,
            idempotent=kind == "kafka",
            env=model | {"KB_LOG_LEVEL": "WARNING"} | dict(env or {}),
            partitions=PARTITIONS,
        ) as running:
            await running.start()
            yield Stack(running, postgres, broker, server, url)


def _broker_pid(broker: EmbeddedBroker | ApacheKafka) -> int:
    return (broker.pid() if isinstance(broker, ApacheKafka) else broker.pid) or 0
