"""The store of raw bodies: a folder, or object storage. Bodies are content-addressed, so a write can be repeated."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import BaseError
from obstore.store import LocalStore, MemoryStore, ObjectStore, from_url

from schemas.codes import Code
from services.chassis.errors import DependencyDown, RetryLater
from services.chassis.failpoints import failpoint
from services.chassis.settings import BlobSettings


class BlobStore:
    """Bodies by key."""

    def __init__(self, settings: BlobSettings) -> None:
        self._store = _open(settings)

    async def put(self, key: str, body: bytes) -> None:
        """Store the body; durable when it returns. Raises DependencyDown(BLOB_STORE_DOWN)."""
        failpoint("before-blob-write")
        try:
            await obstore.put_async(self._store, key, body)
        except (BaseError, OSError) as error:
            raise DependencyDown(Code.BLOB_STORE_DOWN, str(error)) from error
        failpoint("after-blob-write")

    async def get(self, key: str) -> bytes:
        """The body. Raises RetryLater(BODY_MISSING) or DependencyDown(BLOB_STORE_DOWN)."""
        try:
            result = await obstore.get_async(self._store, key)
            return bytes(await result.bytes_async())
        except FileNotFoundError as error:
            raise RetryLater(Code.BODY_MISSING, f"no body lies at {key}") from error
        except (BaseError, OSError) as error:
            raise DependencyDown(Code.BLOB_STORE_DOWN, str(error)) from error

    async def exists(self, key: str) -> bool:
        """Whether a body lies there. Raises DependencyDown(BLOB_STORE_DOWN)."""
        try:
            await obstore.head_async(self._store, key)
        except FileNotFoundError:
            return False
        except (BaseError, OSError) as error:
            raise DependencyDown(Code.BLOB_STORE_DOWN, str(error)) from error
        return True


def _open(settings: BlobSettings) -> ObjectStore:
    parts = urlsplit(settings.url)
    if parts.scheme == "file":
        folder = Path(parts.path)
        folder.mkdir(parents=True, exist_ok=True)
        return LocalStore(folder)
    if parts.scheme == "memory":
        return MemoryStore()
    if settings.endpoint:
        options = {"endpoint": settings.endpoint, "allow_http": "true"}
        return from_url(settings.url, config=options, client_options={"allow_http": True})  # type: ignore[call-overload, no-any-return]
    return from_url(settings.url)
