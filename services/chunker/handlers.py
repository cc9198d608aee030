"""Event in, one call."""

from __future__ import annotations

from schemas.events import SourceFetched
from schemas.topics import FETCHED
from services.chassis.delivery import Delivery, Received
from services.chunker.stage import Chunking
from services.ledger import Stage

GROUP = "chunker"


def subscribe(delivery: Delivery, *, chunking: Chunking, stage: Stage) -> None:
    """Connect the topic with what is done about its events."""

    async def fetched(received: Received[SourceFetched]) -> None:
        await stage.run(received.event, chunking.chunk)

    delivery.subscribe(FETCHED, GROUP, {SourceFetched: fetched})
