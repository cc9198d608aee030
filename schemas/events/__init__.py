"""The events, version by version. `EVENTS` finds the class of a CloudEvents type."""

from __future__ import annotations

from schemas.events.base import Event
from schemas.events.fetch import FetchSucceeded
from schemas.events.pipeline import (
    Batch,
    Chunk,
    Locator,
    SourceChunked,
    SourceDue,
    SourceEmbedded,
    SourceFetched,
    SourceRemovalDue,
    SourceRetitled,
    Work,
)
from schemas.events.source import (
    FileReference,
    SourceMetadataChanged,
    SourceRefreshRequested,
    SourceRemoved,
    SourceSubmitted,
    Wish,
)
from schemas.events.status import SourceArchived, SourceDeleted, SourceFailed, SourceIndexed, Status

EVENTS: dict[str, type[Event]] = {
    event.type: event
    for event in (
        SourceSubmitted,
        SourceRefreshRequested,
        SourceMetadataChanged,
        SourceRemoved,
        FetchSucceeded,
        SourceDue,
        SourceFetched,
        SourceChunked,
        SourceEmbedded,
        SourceRemovalDue,
        SourceRetitled,
        SourceIndexed,
        SourceFailed,
        SourceDeleted,
        SourceArchived,
    )
}

__all__ = [
    "EVENTS",
    "Batch",
    "Chunk",
    "Event",
    "FetchSucceeded",
    "FileReference",
    "Locator",
    "SourceArchived",
    "SourceChunked",
    "SourceDeleted",
    "SourceDue",
    "SourceEmbedded",
    "SourceFailed",
    "SourceFetched",
    "SourceIndexed",
    "SourceMetadataChanged",
    "SourceRefreshRequested",
    "SourceRemovalDue",
    "SourceRemoved",
    "SourceRetitled",
    "SourceSubmitted",
    "Status",
    "Wish",
    "Work",
]
