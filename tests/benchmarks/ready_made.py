"""Events as one stage hands them to the next, made without the stages before it."""

from __future__ import annotations

import base64
import random
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from uuid import UUID, uuid4

import numpy as np

from schemas.cloudevents import Envelope
from schemas.events import Event, SourceChunked, SourceEmbedded, SourceFetched
from schemas.identifiers import blob_key, default_knowledge_base_id
from services.chunker.job import Source, lay
from services.chunker.presets import PRESETS
from services.chunker.stage import _batches
from services.encoder.spaces import EmbeddingSpace
from services.indexer.revisions import Revision
from tests.benchmarks.stack import DIMENSIONS
from tests.benchmarks.texts import markdown

SPACE = EmbeddingSpace("openai", "text-embedding-3-small", DIMENSIONS)


def fetched(organization: UUID, body: bytes) -> SourceFetched:
    """A text source whose body lies in the store."""
    digest = sha256(body).hexdigest()
    return SourceFetched(
        organization_id=organization,
        source_id=uuid4(),
        revision=1,
        knowledge_base_id=default_knowledge_base_id(organization),
        body_key=blob_key(organization, digest),
        body_hash=digest,
        media_type="text/markdown",
    )


def chunked(organization: UUID, sections: int, rng: random.Random) -> list[SourceChunked]:
    """The batches of a source."""
    body = markdown(sections, rng).encode()
    document = lay(Source(body, "text/markdown"), PRESETS["default"], None).unpacked()
    return _batches(fetched(organization, body), document)


def embedded(batch: SourceChunked, rng: np.random.Generator) -> SourceEmbedded:
    """The batch with vectors of length 1."""
    vectors = rng.standard_normal((len(batch.chunks), DIMENSIONS), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return SourceEmbedded(
        **{name: getattr(batch, name) for name in SourceChunked.model_fields},
        space=SPACE.name,
        dimensions=DIMENSIONS,
        vectors=tuple(base64.b64encode(row.tobytes()).decode() for row in vectors),
    )


def revisions(organizations: Sequence[UUID], number: int, sections: int, seed: int) -> list[Revision]:
    """Whole revisions with vectors, over the organizations by turns."""
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    owners = [organizations[place % len(organizations)] for place in range(number)]
    return [Revision(tuple(embedded(part, numbers) for part in chunked(owner, sections, rng))) for owner in owners]


def envelope(event: Event) -> Envelope:
    """Attributes as of a publisher outside."""
    return Envelope(str(uuid4()), "/benchmark", event.type, datetime.now(UTC))
