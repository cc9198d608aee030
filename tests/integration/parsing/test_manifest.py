"""Each file of the shared manifest through the pool of processes that the pipeline and `kb parse` use."""

from __future__ import annotations

import asyncio
import json
import resource
import time
from collections.abc import Iterator

import pytest

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.chunker.job import Source
from services.chunker.pool import ParsingPool
from tests.support.samples import FILES, listed, squeezed

DOCUMENT_CODES = frozenset(
    (
        Code.UNSUPPORTED_TYPE,
        Code.NO_TEXT,
        Code.EMPTY,
        Code.BROKEN,
        Code.ENCRYPTED,
        Code.TOO_DEEP,
        Code.SOURCE_TOO_LARGE,
    )
)

ROWS = listed()
pytestmark = pytest.mark.skipif(not ROWS, reason="needs the shared files")


@pytest.fixture(scope="module")
def pool() -> Iterator[ParsingPool]:
    started = ParsingPool(workers=1)
    yield started
    asyncio.run(started.close())


async def outcome(pool: ParsingPool, file: str) -> str | Code:
    try:
        return (await pool.parse(Source(FILES / file, name=file))).text
    except SourceRefused as refused:
        return refused.code


@pytest.mark.parametrize("row", [pytest.param(row, id=row["file"]) for row in ROWS])
async def test_a_file_of_the_manifest(pool: ParsingPool, row: dict[str, str]) -> None:
    started = time.monotonic()
    result = await outcome(pool, row["file"])
    assert time.monotonic() - started < 20
    if isinstance(result, Code):
        assert row["expect"] in ("refuse", "either"), result
        assert result in DOCUMENT_CODES
        return
    assert row["expect"] in ("extract", "either"), result[:500]
    text = squeezed(result)
    # What may be refused need not be read whole, but is never read wrong.
    wanted = json.loads(row["must_contain"]) if row["expect"] == "extract" else []
    assert [phrase for phrase in wanted if squeezed(phrase) not in text] == []
    unwanted = json.loads(row["must_not_contain"])
    assert [phrase for phrase in unwanted if phrase in result or (squeezed(phrase) and squeezed(phrase) in text)] == []
    assert "\x00" not in result
    usage = await pool.run(resource.getrusage, resource.RUSAGE_SELF)
    assert usage.ru_maxrss * 1024 < 1 << 30
