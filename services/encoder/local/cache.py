"""The folder of converted models. A model's folder is there whole or not at all, whoever else builds it meanwhile."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from schemas.codes import Code
from services.encoder.errors import EncoderRefused


def cached_model(cache: Path, name: str, build: Callable[[Path], None]) -> Path:
    """The folder `name` in the cache; `build` fills it if it is not there yet.

    `name` carries the version of the source and of the layout, so a folder never changes once it is there.
    EncoderRefused (MODEL_UNAVAILABLE) where the cache can't be written.
    """
    target = cache / name
    if target.is_dir():
        return target
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with _alone(cache / f"{name}.lock"):
            if not target.is_dir():
                _build(cache, name, build)
    except OSError as error:
        raise EncoderRefused(Code.MODEL_UNAVAILABLE, f"the model can't be put into {cache}: {error}") from error
    return target


def _build(cache: Path, name: str, build: Callable[[Path], None]) -> None:
    for abandoned in cache.glob(f".{name}.*"):
        shutil.rmtree(abandoned, ignore_errors=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=cache))
    try:
        build(unfinished)
        unfinished.chmod(0o755)
        unfinished.rename(cache / name)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Hold the lock file. The kernel lets go of it when the process ends, however it ends."""
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
