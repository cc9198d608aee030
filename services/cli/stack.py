"""A whole system on this machine: Postgres, a broker, five services, and what starts them again."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

from schemas.codes import Code
from services.chassis.embedded.broker import EmbeddedBroker
from services.chassis.embedded.errors import StartFailed
from services.chassis.embedded.ports import is_free
from services.chassis.embedded.postgres import EmbeddedPostgres
from services.chassis.embedded.processes import ChildProcess
from services.chassis.embedded.supervisor import Supervisor
from services.chassis.errors import DependencyDown
from services.chassis.migrations import migrate
from services.chassis.provisioning import apply_topics
from services.chassis.settings import KafkaSettings
from services.cli.addresses import Addresses, announcing
from services.cli.failures import CommandFailed
from services.cli.fleet import Fleet
from services.cli.settings import CommandSettings
from services.encoder.settings import EncoderSettings

Say = Callable[[str], None]
Work = Callable[[Addresses, Supervisor], Awaitable[int]]

INTERRUPTED = 130
_READY_SECONDS = 120.0  # the first start converts the model, and all cores are busy with it
_TRIALS = 3
_PARTITIONS = 4  # as many as the embedded broker gives a topic that a client asks for before it is made


class Stack:
    """The servers and services in a folder."""

    def __init__(self, settings: CommandSettings, say: Say) -> None:
        self._home = settings.folder
        self._port = settings.port
        self._say = say
        self._postgres = EmbeddedPostgres(self._home / "postgres")
        port = settings.broker_port if is_free(settings.broker_port) else None
        self._broker = EmbeddedBroker(port, log=self._home / "logs" / "broker.log")
        self._converter: ChildProcess | None = None

    async def run(self, work: Work) -> int:
        """Start everything, then do the work; gives its result, or INTERRUPTED where a signal ended it.

        Raises CommandFailed, EmbeddedError, and what the work raises.
        """
        result = INTERRUPTED
        with announcing(self._home) as announcement:
            if not is_free(self._port):
                raise CommandFailed(Code.CONFLICT, f"port {self._port} is taken; KB_PORT names another one")
            try:
                async with Supervisor(say=self._say, ready_within=_READY_SECONDS) as supervisor:
                    addresses = await self._start(supervisor)
                    announcement.write(addresses)
                    result = await work(addresses, supervisor)
            finally:
                await asyncio.to_thread(self._stop_servers)
        return result

    async def _start(self, supervisor: Supervisor) -> Addresses:
        begun = time.monotonic()
        self._start_converting()
        await _unbroken(self._start_servers())
        fleet, services = await self._start_services(supervisor)
        supervisor.guard("postgres", self._postgres)
        # It comes back empty, and would take what consumers commit of before for the new topics: messages would be
        # passed over. Who only publishes can stay.
        consumers = [service for service in services if service.name != "query"]
        supervisor.guard("broker", self._broker, self._make_topics, clients=consumers)
        self._say(f"everything is up after {time.monotonic() - begun:.1f} s")
        return Addresses(fleet.url("query"), self._postgres.dsn, self._broker.bootstrap_servers, fleet.blob_url)

    async def _start_services(self, supervisor: Supervisor) -> tuple[Fleet, list[ChildProcess]]:
        fleet = Fleet(
            self._postgres.dsn,
            self._broker.bootstrap_servers,
            self._home,
            query_port=self._port,
            env={"KB_QUERY_OPEN": "true", "KB_KAFKA_TOPIC_PREFIX": ""},
        )
        for trial in range(1, _TRIALS + 1):
            children = fleet.children()
            for child in children:
                child.log_path.unlink(missing_ok=True)
            try:
                await supervisor.start(*children)
            except StartFailed as error:
                # Nothing holds a free port until its service listens; somebody else was quicker.
                if "address already in use" not in str(error) or trial == _TRIALS:
                    raise
                await supervisor.stop()
            else:
                break
        return fleet, children

    async def _start_servers(self) -> None:
        await asyncio.gather(self._start_postgres(), self._start_broker())

    async def _start_postgres(self) -> None:
        await asyncio.to_thread(self._postgres.start)
        await asyncio.to_thread(migrate, self._postgres.dsn)

    async def _start_broker(self) -> None:
        await asyncio.to_thread(self._broker.start)
        await self._make_topics()

    async def _make_topics(self) -> None:
        settings = KafkaSettings(
            bootstrap=self._broker.bootstrap_servers, idempotent=False, partitions=_PARTITIONS, topic_prefix=""
        )
        while True:
            try:
                await apply_topics(settings)
            except DependencyDown:
                if not self._broker.running:
                    raise
                await asyncio.sleep(0.1)
            else:
                return

    def _start_converting(self) -> None:
        """A model that is new here is converted while the servers start; who needs it waits for that."""
        settings = EncoderSettings()
        provider, _, name = settings.chosen_model.partition("/")
        if provider != "local" or any(settings.model_cache.glob(f"{name}-*/")):
            return
        self._say(f"converting the model {settings.chosen_model}, once")
        environment = Fleet("", "", self._home).environment("converter", 0)
        log = self._home / "logs" / "converter.log"
        self._converter = ChildProcess("converter", [sys.executable, "-m", "services.cli.converting"], environment, log)
        self._converter.start()

    def _stop_servers(self) -> None:
        if self._converter is not None:
            asyncio.run(self._converter.stop(0))
        self._broker.stop()
        self._postgres.stop()


async def _unbroken(work: Awaitable[Any]) -> None:
    """Do the work to its end even where the caller is cancelled meanwhile: a thread can't be cancelled."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
