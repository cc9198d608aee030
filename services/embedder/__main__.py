"""The embedder: gives chunks their vectors."""

from __future__ import annotations

from services.chassis.errors import DependencyDown
from services.chassis.process import Process, run
from services.embedder.embedding import EmbeddingRun, Patience
from services.embedder.handlers import subscribe
from services.embedder.pacing import Pacer
from services.embedder.settings import EmbedderSettings
from services.embedder.sharing import SharedEmbedding
from services.embedder.stage import Embedding
from services.embedder.store import VectorStore
from services.encoder.errors import EncoderRefused
from services.encoder.opening import open_encoder
from services.encoder.settings import EncoderSettings
from services.ledger import Ledger, Stage
from services.ledger.settings import LedgerSettings


async def compose() -> Process:
    """Put the process together. Raises DependencyDown where the model can't be had."""
    process = Process("embedder")
    settings = EncoderSettings()
    try:
        encoder = await open_encoder(settings)
    except EncoderRefused as error:
        raise DependencyDown(error.code, error.reason) from error
    model = None
    if encoder is not None:
        patience = EmbedderSettings().patience
        pacer = Pacer(settings.requests_per_minute, settings.tokens_per_minute, longest_wait=patience)
        model = SharedEmbedding(EmbeddingRun(encoder, pacer, Patience(total=patience)))
        process.closing.append(encoder.aclose)
    space = encoder.space if encoder else None
    store = VectorStore(process.postgres, space)
    ledger = Ledger(process.postgres, LedgerSettings(), "embedding")
    process.opening.append(store.register)
    subscribe(
        process.consume(on_pause=ledger.pause),
        embedding=Embedding(store, process.publisher, space, model),
        stage=Stage(ledger),
    )
    return process


if __name__ == "__main__":
    run("embedder", compose)
