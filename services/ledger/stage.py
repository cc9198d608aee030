"""What surrounds the work of every stage: the fence before it, and what its errors mean for the source after it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from schemas.events import Work
from services.chassis import metrics
from services.chassis.errors import EventRefused, RetryLater, SourceRefused
from services.ledger.ledger import Ledger

log = structlog.get_logger()

W = TypeVar("W", bound=Work)


class Stage:
    """Runs the work of one stage on revisions that are still wanted."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def run(self, work: W, do: Callable[[W], Awaitable[None]]) -> None:
        """Do the work if the revision is wanted; a refusal fails the source, a passing failure postpones it.

        Other errors pass through: they concern the message or a dependency, and are the delivery's.
        """
        if not await self._ledger.progress(work):
            metrics.FENCED.labels(self._ledger.stage).inc()
            return
        try:
            await do(work)
        except SourceRefused as error:
            log.info("source refused", code=error.code, reason=error.reason)
            await self._ledger.fail(work, error.code, error.reason)
        except EventRefused as error:
            # What the stage itself made is refused: the message goes aside, and the source says why it stands still.
            await self._ledger.fail(work, error.code, error.reason)
            raise
        except RetryLater as error:
            log.info("source postponed", code=error.code, reason=error.reason)
            await self._ledger.retry(work, error)
