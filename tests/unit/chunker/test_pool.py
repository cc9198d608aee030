import asyncio
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from schemas.codes import Code
from services.chassis.errors import RetryLater, SourceRefused
from services.chunker.job import Source, lay
from services.chunker.pool import ParsingPool
from services.chunker.presets import PRESETS

DEFAULT = PRESETS["default"]
BODY = b"# Title\n\n" + b"Some words of text. " * 100


@pytest.fixture
async def pool() -> AsyncIterator[ParsingPool]:
    async with ParsingPool(workers=1, seconds=2, memory_bytes=600 << 20) as started:
        yield started


async def test_the_result_is_that_of_this_process(pool: ParsingPool, tmp_path: Path) -> None:
    file = tmp_path / "body"
    file.write_bytes(BODY)
    here = lay(Source(BODY, name="a.md"), DEFAULT, None).unpacked()
    assert await pool.parse_and_chunk(BODY, preset=DEFAULT, name="a.md") == here
    assert await pool.parse_and_chunk(file, preset=DEFAULT, name="a.md") == here
    assert (await pool.parse(Source(BODY, name="a.md"))).text == here.text


async def test_a_refusal_passes_through(pool: ParsingPool) -> None:
    with pytest.raises(SourceRefused) as refused:
        await pool.parse_and_chunk(b"%PDF-1.4", preset=DEFAULT)
    assert refused.value.code is Code.BROKEN


async def test_what_goes_wrong_has_a_code_and_the_pool_goes_on(pool: ParsingPool) -> None:
    for job, argument, code in (
        (time.sleep, 60, Code.PARSE_TIMEOUT),
        (bytearray, 2 << 30, Code.PARSE_MEMORY),
        (os._exit, 3, Code.BROKEN),
        (int, "no number", Code.BROKEN),
    ):
        with pytest.raises(SourceRefused) as refused:
            await pool.run(job, argument)
        assert refused.value.code is code
        assert (await pool.parse_and_chunk(BODY, preset=DEFAULT, name="a.md")).chunks


async def test_cancelling_ends_the_work(pool: ParsingPool) -> None:
    task = asyncio.create_task(pool.run(time.sleep, 60))
    await asyncio.sleep(0.3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    started = time.perf_counter()
    await pool.parse_and_chunk(BODY, preset=DEFAULT, name="a.md")
    assert time.perf_counter() - started < 1.5


async def test_closing_ends_what_runs() -> None:
    pool = ParsingPool(workers=1)
    task = asyncio.create_task(pool.run(time.sleep, 60))
    await asyncio.sleep(0.5)
    await pool.close()
    with pytest.raises(RetryLater):
        await task


async def test_a_pool_that_was_never_used_closes() -> None:
    await ParsingPool().close()


async def test_a_small_text_is_back_at_once(pool: ParsingPool) -> None:
    times = []
    for _ in range(50):
        started = time.perf_counter()
        await pool.parse_and_chunk(BODY, preset=DEFAULT, name="a.md")
        times.append(time.perf_counter() - started)
    assert sorted(times)[len(times) // 2] < 0.02
