"""The indexer: writes revisions and makes them live."""

from __future__ import annotations

from services.chassis.process import Process, run
from services.chassis.settings import RetentionSettings
from services.indexer.cutover import CutOver
from services.indexer.handlers import subscribe
from services.indexer.indexing import Indexing
from services.indexer.retention import Retention
from services.indexer.settings import UpkeepSettings
from services.indexer.spaces import Spaces
from services.indexer.upkeep import Upkeep
from services.ledger import Ledger, Stage
from services.ledger.settings import LedgerSettings


async def compose() -> Process:
    """Put the process together."""
    process = Process("indexer")
    ledger = Ledger(process.postgres, LedgerSettings(), "indexing")
    spaces = Spaces(process.postgres)
    indexing = Indexing(process.postgres, spaces, CutOver(process.postgres, spaces))
    subscribe(process.consume(on_pause=ledger.pause), indexing=indexing, stage=Stage(ledger))
    settings = UpkeepSettings()
    process.repeat(Upkeep(process.postgres, settings).turn, settings.pause)
    process.repeat(Retention(process.postgres, RetentionSettings()).turn, settings.retention_pause)
    return process


if __name__ == "__main__":
    run("indexer", compose)
