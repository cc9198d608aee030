"""Event in, one call."""

from __future__ import annotations

from schemas.events import (
    FetchSucceeded,
    SourceDue,
    SourceMetadataChanged,
    SourceRefreshRequested,
    SourceRemoved,
    SourceSubmitted,
)
from schemas.topics import DUE, FETCH_SUCCEEDED, SOURCE_EVENTS
from services.chassis.delivery import Delivery, Received
from services.fetcher.dispatching import Dispatcher
from services.fetcher.fetching import Fetching
from services.fetcher.intake import Intake
from services.fetcher.promotion import Promotion
from services.ledger import Stage

FETCHES = 256
INTAKE, PROMOTION, FETCHER = "intake", "promotion", "fetcher"


def subscribe(
    delivery: Delivery,
    *,
    intake: Intake,
    promotion: Promotion,
    dispatcher: Dispatcher,
    fetching: Fetching,
    stage: Stage,
) -> None:
    """Connect the topics with what is done about them."""

    async def submitted(received: Received[SourceSubmitted]) -> None:
        if await intake.submit(received):
            dispatcher.hint()

    async def refresh_requested(received: Received[SourceRefreshRequested]) -> None:
        if await intake.refresh(received):
            dispatcher.hint()

    async def metadata_changed(received: Received[SourceMetadataChanged]) -> None:
        await intake.change_fields(received)

    async def removed(received: Received[SourceRemoved]) -> None:
        if await intake.remove(received):
            dispatcher.hint()

    async def fetch_succeeded(received: Received[FetchSucceeded]) -> None:
        if await promotion.consider(received):
            dispatcher.hint()

    async def due(received: Received[SourceDue]) -> None:
        await stage.run(received.event, fetching.fetch)

    delivery.subscribe(
        SOURCE_EVENTS,
        INTAKE,
        {
            SourceSubmitted: submitted,
            SourceRefreshRequested: refresh_requested,
            SourceMetadataChanged: metadata_changed,
            SourceRemoved: removed,
        },
    )
    delivery.subscribe(FETCH_SUCCEEDED, PROMOTION, {FetchSucceeded: fetch_succeeded})
    # Slow hosts wait here without work: as many as can be in flight, so that none stands in another's way.
    delivery.subscribe(DUE, FETCHER, {SourceDue: due}, window=FETCHES)
