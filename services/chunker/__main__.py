"""The chunker: bodies become chunks."""

from __future__ import annotations

from services.chassis.process import Process, run
from services.chunker.handlers import subscribe
from services.chunker.pool import ParsingPool
from services.chunker.settings import ChunkerSettings
from services.chunker.stage import Chunking
from services.ledger import Ledger, Stage
from services.ledger.settings import LedgerSettings


async def compose() -> Process:
    """Put the process together."""
    process = Process("chunker")
    settings = ChunkerSettings()
    pool = ParsingPool(
        workers=settings.workers,
        seconds=settings.seconds,
        memory_bytes=settings.memory_mib << 20,
        tasks_per_worker=settings.recycle_after,
    )
    ledger = Ledger(process.postgres, LedgerSettings(), "chunking")
    chunking = Chunking(process.blobs, process.publisher, pool, settings.tokens)
    subscribe(process.consume(on_pause=ledger.pause), chunking=chunking, stage=Stage(ledger))
    process.closing.append(pool.close)
    return process


if __name__ == "__main__":
    run("chunker", compose)
