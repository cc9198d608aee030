from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from services.chassis.embedded.broker import EmbeddedBroker
from services.chassis.embedded.errors import StartFailed
from services.chassis.embedded.ports import free_port, kafka_answers
from services.chassis.embedded.processes import ChildProcess
from services.chassis.embedded.supervisor import Supervisor
from tests.support.processes import eventually, eventually_async, is_alive

ROOT = Path(__file__).parents[3]
# Arguments: the port of /readyz, and how it behaves.
SERVICE = """
import http.server, signal, sys
print("starting", flush=True)
if sys.argv[2] == "broken":
    sys.exit("cannot go on")
signal.signal(signal.SIGTERM, lambda *_: print("not now", flush=True) if sys.argv[2] == "stubborn" else sys.exit(0))
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(503 if sys.argv[2] == "unready" else 200)
        self.end_headers()
    def log_message(self, *_):
        pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
# Arguments: a folder, and how the second service behaves. Prints the pids when all is up, "after" behind the block.
STACK = """
import asyncio, json, sys
from pathlib import Path
from services.chassis.embedded.broker import EmbeddedBroker
from services.chassis.embedded.postgres import EmbeddedPostgres
from services.chassis.embedded.supervisor import Supervisor
from tests.integration.embedded.test_supervisor import make

async def main():
    folder = Path(sys.argv[1])
    with EmbeddedPostgres(folder / "pg", fast=True) as postgres, EmbeddedBroker() as broker:
        async with Supervisor(say=lambda line: print(line, flush=True)) as supervisor:
            children = [make(folder, "first"), make(folder, "second", sys.argv[2])]
            await supervisor.start(*children)
            print(json.dumps([postgres.pid, broker.pid, *(child.pid for child in children)]), flush=True)
            await supervisor.run()
    print("after", flush=True)

asyncio.run(main())
"""


def make(folder: Path, name: str, behaviour: str = "well", kind: type[ChildProcess] = ChildProcess) -> ChildProcess:
    port = free_port()
    argv = [sys.executable, "-c", SERVICE, str(port), behaviour]
    return kind(name, argv, dict(os.environ), folder / f"{name}.log", f"http://127.0.0.1:{port}/readyz")


@contextmanager
def stack(folder: Path, behaviour: str = "well") -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """The stack's process and the pids of all that it started."""
    argv = [sys.executable, "-c", STACK, str(folder), behaviour]
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        try:
            yield parent, json.loads(parent.stdout.readline())
        finally:
            parent.kill()


async def test_stops_in_reverse_order(tmp_path: Path) -> None:
    ended: list[str] = []

    class Noting(ChildProcess):
        async def stop(self, grace: float, hurry: asyncio.Event | None = None) -> None:
            await super().stop(grace, hurry)
            ended.append(self.name)

    children = [make(tmp_path, name, kind=Noting) for name in ("first", "second", "third")]
    async with Supervisor() as supervisor:
        await supervisor.start(*children[:2])
        await supervisor.start(children[2])
        assert all(child.pid and is_alive(child.pid) for child in children)
    assert ended == ["third", "second", "first"]
    assert [child.exit_code for child in children] == [0, 0, 0]


async def test_a_crashed_child_is_started_again(tmp_path: Path) -> None:
    said: list[str] = []
    child = make(tmp_path, "service")
    async with Supervisor(say=said.append) as supervisor:
        await supervisor.start(child)
        for restarts in (1, 2):
            assert child.pid
            os.kill(child.pid, signal.SIGKILL)

            async def is_back(restarts: int = restarts) -> bool:
                return said.count("service is back") == restarts

            await eventually_async(is_back)
        await child.ready(0)
    crashes = [line for line in said if "exit code -9" in line]
    assert "again in 0.5 s" in crashes[0]
    assert "again in 1 s" in crashes[1]
    assert child.log_path.read_text() == "starting\n" * 3


@pytest.mark.parametrize(("behaviour", "reason"), [("broken", "cannot go on"), ("unready", "not ready within 1 s")])
async def test_a_child_that_does_not_come_up_ends_all(tmp_path: Path, behaviour: str, reason: str) -> None:
    good, bad = make(tmp_path, "good"), make(tmp_path, "bad", behaviour)
    with pytest.raises(StartFailed, match=reason) as failure:
        async with Supervisor(ready_within=1 if behaviour == "unready" else 30) as supervisor:
            await supervisor.start(good, bad)
    assert "starting" in str(failure.value)
    assert good.pid is None
    assert bad.pid is None


async def test_who_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    child = make(tmp_path, "service", "stubborn")
    async with Supervisor(grace=0.2) as supervisor:
        await supervisor.start(child)
    assert child.exit_code == -signal.SIGKILL
    assert child.log_path.read_text() == "starting\nnot now\n"


async def test_a_crashed_server_is_started_again_and_filled_before_its_clients(tmp_path: Path) -> None:
    filled: list[tuple[bool, int | None]] = []
    client, other = make(tmp_path, "client"), make(tmp_path, "other")
    with EmbeddedBroker() as broker:

        async def fill() -> None:
            filled.append((kafka_answers(broker.port), client.pid))

        async def is_back() -> bool:
            return client.log_path.read_text() == "starting\n" * 2

        async with Supervisor() as supervisor:
            await supervisor.start(client, other)
            supervisor.guard("broker", broker, fill, clients=[client])
            assert broker.pid
            os.kill(broker.pid, signal.SIGKILL)
            await eventually_async(is_back)
            await client.ready(10)
            assert filled == [(True, None)]
    assert other.log_path.read_text() == "starting\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_all_in_order(tmp_path: Path, number: signal.Signals) -> None:
    with stack(tmp_path) as (parent, pids):
        parent.send_signal(number)
        said, _ = parent.communicate(timeout=30)
        assert said == f"{number.name}: stopping\nafter\n"
        assert parent.returncode == 0
        assert not any(map(is_alive, pids))


def test_a_second_signal_does_not_wait(tmp_path: Path) -> None:
    with stack(tmp_path, "stubborn") as (parent, pids):
        parent.send_signal(signal.SIGINT)
        eventually(lambda: "not now" in (tmp_path / "second.log").read_text())
        parent.send_signal(signal.SIGINT)
        # Its grace would have been 15 seconds.
        assert parent.wait(5) == 0
        assert not any(map(is_alive, pids))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a death signal")
def test_no_orphans_after_the_parent_is_killed(tmp_path: Path) -> None:
    with stack(tmp_path, "stubborn") as (parent, pids):
        assert all(map(is_alive, pids))
        parent.kill()
        parent.wait()
        eventually(lambda: not any(map(is_alive, pids)))
    # The data of the server that lost its parent is whole, and free at once.
    with stack(tmp_path) as (_, again):
        assert all(map(is_alive, again))
