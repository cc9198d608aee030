"""Two processes that start together convert a model once; an encoder needs little memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

RACER = """
import sys, time
from pathlib import Path
from services.encoder.local import {module} as model
build = model.convert
def counted(folder):
    with open(sys.argv[1] + "/conversions", "a") as log:
        log.write("x")
    build(folder)
model.convert = counted
Path(sys.argv[1], "ready" + sys.argv[2]).touch()
while not Path(sys.argv[1], "ready0").exists() or not Path(sys.argv[1], "ready1").exists():
    time.sleep(0.001)
print(model.open_model(Path(sys.argv[1], "cache")).embed("query: the same").hex())
"""

WORKER = """
import asyncio, json, re, sys
from pathlib import Path
import psutil
from services.encoder.opening import open_encoder
from services.encoder.settings import EncoderSettings

async def main():
    settings = EncoderSettings(model=sys.argv[2], model_cache=Path(sys.argv[1], "cache"), local_threads=2)
    encoder = await open_encoder(settings)
    rest = psutil.Process().memory_info().rss >> 20
    await encoder.embed_passages(["some words of a text " * 80] * 12)
    await encoder.aclose()
    # Not ru_maxrss: that survives exec, and would be the memory of the process that started this one.
    peak = int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) >> 10
    print(json.dumps({"rest": rest, "peak": peak}))

asyncio.run(main())
"""


def started(program: str, *arguments: str) -> subprocess.Popen[str]:
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True)


def output(process: subprocess.Popen[str]) -> str:
    with process:
        text, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return text.strip()


@pytest.mark.parametrize("module", ["multilingual_e5", "minilm"])
def test_two_processes_convert_once(tmp_path: Path, module: str) -> None:
    program = RACER.format(module=module)
    one, other = (started(program, str(tmp_path), number) for number in "01")
    assert output(one) == output(other) != ""
    assert (tmp_path / "conversions").read_text() == "x"
    assert len([path for path in (tmp_path / "cache").iterdir() if path.is_dir()]) == 1


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak from /proc")
@pytest.mark.parametrize("model", ["local/multilingual-e5-small", "local/all-minilm-l6-v2"])
def test_memory_stays_within_bounds(tmp_path: Path, model: str) -> None:
    """Megabytes, in a process that converts and in one that finds the model converted."""
    converting = json.loads(output(started(WORKER, str(tmp_path), model)))
    assert converting["peak"] < 600
    ready = json.loads(output(started(WORKER, str(tmp_path), model)))
    assert ready["rest"] < 300
    assert ready["peak"] < 600
