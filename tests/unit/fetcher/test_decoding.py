"""Bodies are decompressed within bounds."""

from __future__ import annotations

import contextlib
import gzip
import os
import tracemalloc
import zlib
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.codes import Code
from services.chassis.errors import RetryLater, SourceRefused
from services.fetcher.http.decoding import read_body

MEBIBYTE = 2**20


async def _parts(data: bytes, size: int = 65_536) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


def _raw_deflate(data: bytes) -> bytes:
    stream = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return stream.compress(data) + stream.flush()


ENCODINGS = {
    "": bytes,
    "identity": bytes,
    "gzip": gzip.compress,
    "X-GZIP ": gzip.compress,
    "deflate": zlib.compress,
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("size", [1, 7, 65_536])
async def test_a_body_comes_back(encoding: str, size: int) -> None:
    data = os.urandom(3_000) + b"a" * 30_000
    assert await read_body(_parts(ENCODINGS[encoding](data), size), encoding, MEBIBYTE) == data


@pytest.mark.parametrize("size", [1, 65_536])
async def test_deflate_without_a_header(size: int) -> None:
    assert await read_body(_parts(_raw_deflate(b"text " * 999), size), "deflate", MEBIBYTE) == b"text " * 999


@pytest.mark.parametrize("size", [1, 65_536])
async def test_several_members_and_padding(size: int) -> None:
    data = gzip.compress(b"one ") + gzip.compress(b"two") + b"\0" * 600
    assert await read_body(_parts(data, size), "gzip", MEBIBYTE) == b"one two"


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_the_limit_is_exact(encoding: str) -> None:
    data = ENCODINGS[encoding](b"a" * 10_000)
    assert len(await read_body(_parts(data), encoding, 10_000)) == 10_000
    with pytest.raises(SourceRefused) as refused:
        await read_body(_parts(data), encoding, 9_999)
    assert refused.value.code == Code.SOURCE_TOO_LARGE


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
@pytest.mark.parametrize("keep", [1, 5, 40, -1])
async def test_a_body_that_ends_too_early_is_tried_again(encoding: str, keep: int) -> None:
    with pytest.raises(RetryLater) as failed:
        await read_body(_parts(ENCODINGS[encoding](os.urandom(500))[:keep]), encoding, MEBIBYTE)
    assert failed.value.code == Code.FETCH_FAILED


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "gzip,deflate", "compress"])
async def test_other_encodings_are_not_decoded(encoding: str) -> None:
    with pytest.raises(RetryLater) as failed:
        await read_body(_parts(b"x"), encoding, MEBIBYTE)
    assert failed.value.code == Code.FETCH_FAILED


async def test_thousands_of_empty_members_are_refused() -> None:
    with pytest.raises(RetryLater, match="members"):
        await read_body(_parts(gzip.compress(b"") * 5_000), "gzip", MEBIBYTE)


async def test_a_body_that_grows_nothing_is_bounded_too() -> None:
    stored = gzip.compress(b"")[:10] + b"\0\0\0\xff\xff" * MEBIBYTE
    with pytest.raises(SourceRefused) as refused:
        await read_body(_parts(stored), "gzip", MEBIBYTE)
    assert refused.value.code == Code.SOURCE_TOO_LARGE


async def test_a_bomb_takes_no_more_memory_than_the_limit() -> None:
    bomb = zlib.compress(b"\0" * (256 * MEBIBYTE), 9)
    tracemalloc.start()
    try:
        with pytest.raises(SourceRefused):
            await read_body(_parts(bomb), "deflate", MEBIBYTE)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 6 * MEBIBYTE


@given(st.binary(max_size=300), st.sampled_from(["gzip", "deflate"]), st.integers(1, 300))
async def test_noise_is_refused_or_decoded_but_never_more_than_the_limit(data: bytes, encoding: str, size: int) -> None:
    with contextlib.suppress(RetryLater, SourceRefused):
        assert len(await read_body(_parts(data, size), encoding, 100)) <= 100
