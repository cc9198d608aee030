"""The topic table: which events a topic carries, its key, who writes and who reads it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from schemas.events import (
    Event,
    FetchSucceeded,
    SourceArchived,
    SourceChunked,
    SourceDeleted,
    SourceDue,
    SourceEmbedded,
    SourceFailed,
    SourceFetched,
    SourceIndexed,
    SourceMetadataChanged,
    SourceRefreshRequested,
    SourceRemovalDue,
    SourceRemoved,
    SourceRetitled,
    SourceSubmitted,
)


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic. `consumers` are the names of the groups that read it; each has a dead-letter topic of its own.

    A group reads one topic: members that join for another would make it stop and share out anew.
    """

    name: str
    events: tuple[type[Event], ...]
    key: str
    producers: tuple[str, ...]
    consumers: tuple[str, ...]
    partitions: int = 6
    retention: timedelta = timedelta(days=7)

    @property
    def types(self) -> frozenset[str]:
        """CloudEvents types that may stand on the topic."""
        return frozenset(event.type for event in self.events)

    def dead_letter(self, group: str) -> str:
        """Name of the topic that takes what the group can't process."""
        return f"{self.name}.{group}.dlq.v1"


SOURCE_EVENTS = Topic(
    "kb.source.events.v1",
    (SourceSubmitted, SourceRefreshRequested, SourceMetadataChanged, SourceRemoved),
    key="organization and source",
    producers=("upstream", "query"),
    consumers=("intake",),
)
FETCH_SUCCEEDED = Topic(
    "kb.fetch.succeeded.v1",
    (FetchSucceeded,),
    key="organization and url",
    producers=("upstream", "query"),
    consumers=("promotion",),
)
DUE = Topic(
    "kb.source.due.v1",
    (SourceDue,),
    key="organization and source",
    producers=("fetcher",),
    consumers=("fetcher",),
)
FETCHED = Topic(
    "kb.source.fetched.v1",
    (SourceFetched,),
    key="organization and source",
    producers=("fetcher",),
    consumers=("chunker",),
)
CHUNKED = Topic(
    "kb.source.chunked.v1",
    (SourceChunked,),
    key="organization and source",
    producers=("chunker",),
    consumers=("embedder",),
)
EMBEDDED = Topic(
    "kb.source.embedded.v1",
    # Removal and change of title come here too, so that the key keeps their order with the batches.
    (SourceEmbedded, SourceRemovalDue, SourceRetitled),
    key="organization and source",
    producers=("embedder", "fetcher"),
    consumers=("indexer",),
)
STATUS = Topic(
    "kb.source.status.v1",
    (SourceIndexed, SourceFailed, SourceDeleted, SourceArchived),
    key="organization and source",
    producers=("fetcher",),
    consumers=(),
)

TOPICS: tuple[Topic, ...] = (SOURCE_EVENTS, FETCH_SUCCEEDED, DUE, FETCHED, CHUNKED, EMBEDDED, STATUS)

DEAD_LETTER_RETENTION = timedelta(days=30)
