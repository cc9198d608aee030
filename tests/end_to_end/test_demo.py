"""`kb demo` and `kb up` as a person runs them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from services.chassis.embedded.ports import free_port
from services.cli.addresses import running_stack
from tests.support.processes import eventually, is_alive

ROOT = Path(__file__).parents[2]
PAGES = {
    "refunds.md": "# Refunds\n\n## Window\n\nCustomers get their money back within thirty days of the purchase.\n",
    "hours.html": "<html><head><title>Opening hours</title></head><body><h1>Opening hours</h1>"
    '<h2 id="sunday">Sundays</h2><p>On Sundays the library opens at noon.</p></body></html>',
    "penguins.txt": "Penguins live in the south. They eat fish and swim well.\n",
}
SECONDS = 150

Kb = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(420)]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in PAGES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def environment(home: Path) -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("KB_")},
        "PYTHONPATH": str(ROOT),
        "KB_HOME": str(home),
        "KB_PORT": str(free_port()),
        "KB_BROKER_PORT": str(free_port()),
    }


@pytest.fixture
def kb(environment: dict[str, str], tmp_path: Path) -> Kb:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "services.cli", *arguments]
        return subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS, check=False
        )

    return run


def demo(kb: Kb, docs: Path) -> dict[str, Any]:
    ended = kb("demo", "--docs", str(docs), "--json")
    assert ended.returncode == 0, ended.stderr
    result: dict[str, Any] = json.loads(ended.stdout)
    return result


def test_documents_become_cited_answers_and_a_second_run_embeds_nothing(kb: Kb, docs: Path) -> None:
    first = demo(kb, docs)
    assert (first["ready"], first["failed"]) == (3, {})
    assert first["after"]["tokens"] > first["before"]["tokens"] == 0
    assert len(first["questions"]) >= 3
    best = [question["hits"][0] for question in first["questions"]]
    assert all(hit["text"] and hit["score"] is not None for hit in best)
    links = {hit["url"] for hit in best}
    assert f"{(docs / 'hours.html').as_uri()}#sunday" in links
    assert f"{(docs / 'refunds.md').as_uri()}#refunds" in links
    assert ["Refunds"] in [hit["heading_path"] for hit in best]

    second = demo(kb, docs)
    assert second["after"] == second["before"] == first["after"]
    assert [q["question"] for q in second["questions"]] == [q["question"] for q in first["questions"]]


def test_a_document_that_fails_is_named_and_the_demo_does_not_end_well(kb: Kb, docs: Path) -> None:
    (docs / "broken.html").write_text("<html><body></body></html>")
    ended = kb("demo", "--docs", str(docs))
    assert ended.returncode == 1
    assert "broken.html: NO_TEXT" in ended.stdout


@pytest.fixture
def stack(environment: dict[str, str], home: Path, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """`kb up`, ready."""
    with (tmp_path / "up.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "services.cli", "up"], env=environment, cwd=tmp_path, stdout=log, stderr=log
        )
    try:
        eventually(lambda: process.poll() is not None or running_stack(home), SECONDS)
        assert process.poll() is None, (tmp_path / "up.log").read_text()
        yield process
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0, (tmp_path / "up.log").read_text()
    finally:
        process.kill()
        process.wait()


def child(stack: subprocess.Popen[bytes], *words: str) -> psutil.Process:
    """The process below the stack whose command line ends so."""
    for process in psutil.Process(stack.pid).children(recursive=True):
        if all(any(word in part for part in process.cmdline()) for word in words):
            return process
    raise LookupError(words)


def test_what_crashes_comes_back_and_the_whole_ends_with_ctrl_c(
    kb: Kb, stack: subprocess.Popen[bytes], docs: Path, tmp_path: Path
) -> None:
    log = tmp_path / "up.log"
    assert kb("add", str(docs / "refunds.md"), "--wait").returncode == 0
    assert kb("up").returncode == 1

    child(stack, "services.chunker").kill()
    eventually(lambda: "chunker is back" in log.read_text(), 60)
    consumers = ["fetcher", "chunker", "embedder", "indexer"]
    before = [child(stack, f"services.{name}").pid for name in consumers]
    child(stack, "broker", "--silent").kill()
    eventually(lambda: "broker is back" in log.read_text(), 60)
    after = [child(stack, f"services.{name}").pid for name in consumers]
    assert not set(before) & set(after), "none that knows offsets of before meets the broker that is empty"
    assert kb("topics", "apply").stdout == "all topics are there\n"

    added = kb("add", str(docs / "penguins.txt"), "--wait", "--json")
    assert added.returncode == 0, added.stdout + added.stderr
    drained = kb("drain", "--timeout", "90", "--json")
    assert drained.returncode == 0, drained.stdout + drained.stderr
    assert "fish" in kb("search", "What do penguins eat?", "--k", "1").stdout
    children = psutil.Process(stack.pid).children(recursive=True)
    stack.send_signal(signal.SIGINT)
    assert stack.wait(60) == 0
    eventually(lambda: not [process.pid for process in children if is_alive(process.pid)])
