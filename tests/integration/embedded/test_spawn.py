from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from services.chassis.embedded.account import Account
from services.chassis.embedded.spawn import Child, spawn
from tests.support.processes import eventually, is_alive

SLEEP = ["sleep", "60"]
ENV = {"PATH": os.defpath}
ROOT = Path(__file__).parents[3]
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")


def test_tells_the_exit_code_and_appends_the_output(tmp_path: Path) -> None:
    log = tmp_path / "new" / "log"
    for number in (0, 7):
        child = spawn(["sh", "-c", f"echo out; echo err >&2; exit {number}"], env=ENV, log=log)
        assert child.wait(10)
        assert child.exit_code() == number
    assert log.read_text() == "out\nerr\n" * 2


def test_has_exactly_the_given_environment(tmp_path: Path) -> None:
    child = spawn(["env"], env=ENV | {"A": "b"}, log=tmp_path / "log")
    assert child.wait(10)
    lines = dict(line.split("=", 1) for line in (tmp_path / "log").read_text().splitlines())
    lines.pop("LC_CTYPE", None)  # Python sets it for itself in the C locale
    assert lines == {"PATH": os.defpath, "A": "b"}


def test_a_missing_program_is_named_in_the_log(tmp_path: Path) -> None:
    child = spawn(["/no/such/program"], env=ENV, log=tmp_path / "log")
    assert child.wait(10)
    assert child.exit_code() == 126
    assert "/no/such/program" in (tmp_path / "log").read_text()


def test_stop_ends_with_a_kill(tmp_path: Path) -> None:
    log = tmp_path / "log"
    stubborn = spawn(["sh", "-c", "trap '' TERM; echo ready; sleep 60"], env=ENV, log=log)
    eventually(lambda: log.read_text() == "ready\n")
    stubborn.stop((signal.SIGTERM, 0.2))
    assert stubborn.exit_code() == -signal.SIGKILL


def test_what_a_child_leaves_behind_is_killed(tmp_path: Path) -> None:
    child = spawn(["sh", "-c", "sleep 60 & echo $!"], env=ENV, log=tmp_path / "log")
    assert child.wait(10)
    eventually(lambda: not is_alive(int((tmp_path / "log").read_text())))


def test_outlives_the_thread_that_asked_for_it() -> None:
    children: list[Child] = []
    thread = threading.Thread(target=lambda: children.append(spawn(SLEEP, env=ENV)))
    thread.start()
    thread.join()
    assert not children[0].wait(0.3)
    children[0].kill()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a death signal")
def test_does_not_outlive_a_killed_parent() -> None:
    program = "import os\nfrom services.chassis.embedded.spawn import spawn\n"
    program += f"print(spawn({SLEEP}, env={ENV}).pid, flush=True)\nopen(0).read()"
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout
        pid = int(parent.stdout.readline())
        assert is_alive(pid)
        parent.kill()
    eventually(lambda: not is_alive(pid))


@root_only
def test_becomes_another_user_without_privileges(tmp_path: Path) -> None:
    log = tmp_path / "log"
    child = spawn(["sh", "-c", "id -u; id -g; id -G"], env=ENV, log=log, account=Account(12345, 12346))
    assert child.wait(10)
    assert log.read_text().split() == ["12345", "12346", "12346"]


@root_only
@pytest.mark.parametrize("reach", [False, True])
def test_reach_passes_closed_folders(tmp_path: Path, reach: bool) -> None:
    place = tmp_path / "closed" / "open"
    place.mkdir(parents=True)
    place.chmod(0o755)
    (tmp_path / "closed").chmod(0o700)
    child = spawn(["ls", str(place)], env=ENV, account=Account(12345, 12345), reach=reach)
    assert child.wait(10)
    assert (child.exit_code() == 0) is reach
