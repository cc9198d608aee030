"""Apache Kafka from the jars that `make test-deps-kafka` fetches, and the fixtures `shared_kafka` and `broker`."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from services.chassis.embedded.errors import StartFailed
from services.chassis.embedded.ports import free_port, kafka_answers, wait_until
from services.chassis.embedded.spawn import Child, spawn
from tests.support.processes import require

VERSION = "4.3.1"
CLUSTER_ID = "a2ItdGVzdC1jbHVzdGVyMQ"
START_SECONDS = 60.0
STOP_SECONDS = 10.0
# The client compiler alone: a broker of a test does not live long enough for the other one.
JVM = ["-Xmx384m", "-Xss512k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.apache.logging.log4j.level=WARN"]


class Broker(NamedTuple):
    """What a test gets to talk to. `transactions` tells whether idempotent and transactional producers work."""

    kind: str
    bootstrap_servers: str
    transactions: bool


def kafka_libs() -> Path:
    """The folder of the jars."""
    default = Path.home() / ".cache" / "agent-knowledge-base" / f"kafka-{VERSION}" / "libs"
    return Path(os.environ.get("KB_KAFKA_LIBS") or default)


def kafka_missing() -> str | None:
    """Why Kafka can't be started here; None if it can."""
    if shutil.which("java") is None:
        return "Java 17 or newer is not installed"
    if not (kafka_libs() / f"kafka_2.13-{VERSION}.jar").is_file():
        return f"Apache Kafka {VERSION} is not in {kafka_libs()}: make test-deps-kafka"
    return None


class ApacheKafka:
    """Brokers on 127.0.0.1, each its own controller. Nodes are numbered from 1; ports and data last over restarts."""

    def __init__(self, folder: Path, brokers: int = 1) -> None:
        self.nodes = range(1, brokers + 1)
        self._folder = folder
        self._ports = {node: (free_port(), free_port()) for node in self.nodes}
        self._children: dict[int, Child] = {}

    @property
    def bootstrap_servers(self) -> str:
        """All brokers, also those that are down."""
        return ",".join(f"127.0.0.1:{port}" for port, _ in self._ports.values())

    def pid(self, node: int = 1) -> int | None:
        """Of a running broker."""
        child = self._children.get(node)
        return child.pid if child and child.exit_code() is None else None

    def start(self) -> None:
        """Starts those that are down and returns when all answer. Raises StartFailed with the tail of a log."""
        for node in self.nodes:
            if self.pid(node) is None:
                self._children[node] = self._spawn(node)
        if not wait_until(self._settled, START_SECONDS) or not self._all_answer():
            late = next((node for node in self.nodes if not self._answers(node)), 1)
            self.kill()
            raise StartFailed(f"Kafka node {late}", "no answer", self._home(late) / "log")

    def stop(self) -> None:
        """Orderly, all at once; those that wait for a majority that has gone are killed after ten seconds."""
        for child in self._children.values():
            child.send(signal.SIGTERM)
        for child in self._children.values():
            child.stop((signal.SIGTERM, STOP_SECONDS))

    def kill(self, node: int | None = None) -> None:
        """SIGKILL for one broker, or for all."""
        for number, child in self._children.items():
            if node in {None, number}:
                child.kill()

    def restart(self) -> None:
        """Stop and start, on the same data."""
        self.stop()
        self.start()

    def __enter__(self) -> ApacheKafka:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _home(self, node: int) -> Path:
        return self._folder / f"node-{node}"

    def _answers(self, node: int) -> bool:
        return self.pid(node) is not None and kafka_answers(self._ports[node][0])

    def _all_answer(self) -> bool:
        return all(self._answers(node) for node in self.nodes)

    def _settled(self) -> bool:
        return any(self.pid(node) is None for node in self.nodes) or self._all_answer()

    def _spawn(self, node: int) -> Child:
        home = self._home(node)
        data = home / "data"
        if not data.exists():
            data.mkdir(parents=True)
            # What `StorageTool format` would write, without a JVM for each node.
            (data / "meta.properties").write_text(f"version=1\ncluster.id={CLUSTER_ID}\nnode.id={node}\n")
            (home / "server.properties").write_text(self._properties(node))
        java = [shutil.which("java") or "java", *JVM, "-cp", f"{kafka_libs()}/*"]
        argv = [*java, "kafka.Kafka", str(home / "server.properties")]
        return spawn(argv, env={"PATH": os.environ["PATH"]}, log=home / "log", cwd=home)

    def _properties(self, node: int) -> str:
        port, control = self._ports[node]
        copies = min(3, len(self.nodes))
        voters = ",".join(f"{number}@127.0.0.1:{ports[1]}" for number, ports in self._ports.items())
        plain, controller = f"PLAINTEXT://127.0.0.1:{port}", f"CONTROLLER://127.0.0.1:{control}"
        settings = {
            "process.roles": "broker,controller",
            "node.id": node,
            "controller.quorum.voters": voters,
            "listeners": f"{plain},{controller}",
            "advertised.listeners": plain,
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": self._home(node) / "data",
            "auto.create.topics.enable": "false",
            "default.replication.factor": copies,
            "min.insync.replicas": (copies + 1) // 2,
            "offsets.topic.replication.factor": copies,
            "offsets.topic.num.partitions": 3,
            "transaction.state.log.replication.factor": copies,
            "transaction.state.log.min.isr": (copies + 1) // 2,
            "transaction.state.log.num.partitions": 3,
            "group.initial.rebalance.delay.ms": 0,
            # 6 seconds by default, which is long to wait for in a test.
            "group.min.session.timeout.ms": 500,
            # A broker that is killed counts as gone after 3 seconds instead of 9.
            "broker.session.timeout.ms": 3000,
            "broker.heartbeat.interval.ms": 500,
            # 128 MB of the heap by default.
            "log.cleaner.dedupe.buffer.size": 16 * 1024 * 1024,
        }
        return "".join(f"{name}={value}\n" for name, value in settings.items())


@pytest.fixture(scope="session")
def shared_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheKafka]:
    """One broker for the whole run, started by the first test that asks. Tests use topics and groups of their own."""
    require(kafka_missing())
    folder = tmp_path_factory.mktemp("kafka")
    with ApacheKafka(folder) as kafka:
        yield kafka
    shutil.rmtree(folder)


@pytest.fixture(params=["tansu", pytest.param("kafka", marks=pytest.mark.kafka)])
def broker(request: pytest.FixtureRequest) -> Broker:
    """Each kind of broker in turn: what holds for one has to hold for the other."""
    kind = str(request.param)
    server = request.getfixturevalue(f"shared_{kind}")
    return Broker(kind, server.bootstrap_servers, transactions=kind == "kafka")
