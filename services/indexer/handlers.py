"""Event in, one call."""

from __future__ import annotations

from schemas.events import SourceEmbedded, SourceRemovalDue, SourceRetitled
from schemas.topics import EMBEDDED
from services.chassis.delivery import Delivery, Received
from services.indexer.indexing import Indexing
from services.ledger import Stage

GROUP = "indexer"


def subscribe(delivery: Delivery, *, indexing: Indexing, stage: Stage) -> None:
    """Connect the topic with what is done about its events."""

    async def embedded(received: Received[SourceEmbedded]) -> None:
        await stage.run(received.event, lambda _: indexing.index(received))

    async def removal_due(received: Received[SourceRemovalDue]) -> None:
        await indexing.remove(received.event)

    async def retitled(received: Received[SourceRetitled]) -> None:
        await indexing.retitle(received.event)

    delivery.subscribe(
        EMBEDDED, GROUP, {SourceEmbedded: embedded, SourceRemovalDue: removal_due, SourceRetitled: retitled}
    )
