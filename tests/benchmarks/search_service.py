"""The query service in a process of its own, with the vectors of known queries at hand.

    python -m tests.benchmarks.search_service DSN QUERIES.json PORT

Prints a JSON object with an API key for each organization once it serves.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

import numpy as np
import uvicorn
import uvloop
from pydantic import SecretStr

from services.chassis.blobs import BlobStore
from services.chassis.health import Health
from services.chassis.logging import configure_logging
from services.chassis.postgres import Postgres
from services.chassis.settings import BlobSettings, LogSettings, PostgresSettings
from services.encoder.encoder import Limits
from services.encoder.spaces import EmbeddingSpace
from services.query.additions import Additions
from services.query.api.application import make_app
from services.query.api.parts import Parts
from services.query.keys import Keys
from services.query.library import Library
from services.query.neighbours import Neighbours
from services.query.query_log.reading import LoggedQueries
from services.query.query_log.writing import QueryLog
from services.query.query_vectors import QueryVectors
from services.query.search import Search
from services.query.settings import AccessSettings, QueryLogSettings, RequestSettings, SearchSettings
from services.query.wishes import Wishes
from tests.integration.query.service import StraightToIntake


class KnownQueries:
    """An encoder that has looked up everything before."""

    limits = Limits()

    def __init__(self, vectors: dict[str, bytes], dimensions: int) -> None:
        self.space = EmbeddingSpace("ready", "made", dimensions)
        self._vectors = vectors

    async def embed_query(self, text: str) -> bytes:
        return self._vectors[text]

    async def embed_passages(self, texts: Sequence[str]) -> list[bytes]:
        return [self._vectors[text] for text in texts]

    async def aclose(self) -> None:
        pass


async def main() -> None:
    dsn, file, port = sys.argv[1:]
    configure_logging(LogSettings(), "query")
    asked = json.loads(Path(file).read_text(encoding="utf-8"))
    vectors = {text: np.asarray(vector, "<f4").tobytes() for text, vector, _ in asked}
    postgres = Postgres(PostgresSettings(dsn=SecretStr(dsn), role="kb_query", pool=16))
    pipeline = Postgres(PostgresSettings(dsn=SecretStr(dsn), role="kb_pipeline", pool=1))
    await postgres.open()
    await pipeline.open()
    blobs = BlobStore(BlobSettings(url="memory://"))
    keys = Keys(postgres, 600)
    encoder = KnownQueries(vectors, len(asked[0][1]))
    log = QueryLog(postgres, QueryLogSettings(), None, is_on=True)
    parts = Parts(
        access=AccessSettings(),
        search=Search(postgres, QueryVectors(encoder, SearchSettings()), None),
        neighbours=Neighbours(postgres, None),
        query_log=log,
        logged_queries=LoggedQueries(postgres),
        library=Library(postgres, None),
        keys=keys,
        wishes=Wishes(StraightToIntake(pipeline, blobs), postgres, RequestSettings()),
        additions=Additions(blobs),
    )
    made = {org: (await keys.make(UUID(org), "benchmark", "member", None))["key"] for org in {org for *_, org in asked}}
    server = uvicorn.Server(
        uvicorn.Config(
            make_app(parts, Health(started=True), largest=2**20), port=int(port), log_config=None, access_log=False
        )
    )
    writing = asyncio.create_task(log.run())
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    print(json.dumps(made), flush=True)
    await serving
    writing.cancel()


if __name__ == "__main__":
    uvloop.run(main())
