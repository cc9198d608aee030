"""Event in, one call."""

from __future__ import annotations

from schemas.events import SourceChunked
from schemas.topics import CHUNKED
from services.chassis.delivery import Delivery, Received
from services.embedder.stage import Embedding
from services.ledger import Stage

GROUP = "embedder"


def subscribe(delivery: Delivery, *, embedding: Embedding, stage: Stage) -> None:
    """Connect the topic with what is done about its events."""

    async def chunked(received: Received[SourceChunked]) -> None:
        await stage.run(received.event, embedding.embed)

    delivery.subscribe(CHUNKED, GROUP, {SourceChunked: chunked})
