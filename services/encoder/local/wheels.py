"""Files inside installed wheels, read as data: the package that holds them is never imported."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

from schemas.codes import Code
from services.encoder.errors import EncoderRefused


def wheel_file(distribution: str, ending: str) -> Path:
    """The file of an installed package whose path ends so. EncoderRefused (MODEL_UNAVAILABLE) if there is none."""
    try:
        files = metadata.files(distribution) or []
    except metadata.PackageNotFoundError:
        reason = f"the package {distribution} is not installed: install agent-knowledge-base[local]"
        raise EncoderRefused(Code.MODEL_UNAVAILABLE, reason) from None
    for file in files:
        path = Path(str(file.locate()))
        if file.as_posix().endswith(ending) and path.is_file():
            return path
    raise EncoderRefused(Code.MODEL_UNAVAILABLE, f"the package {distribution} holds no file {ending}")


def wheel_version(distribution: str) -> str:
    """The installed version, or `absent`."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "absent"
