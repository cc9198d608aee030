"""Deterministic identifiers: the same thing gets the same id wherever and however often it is computed."""

from __future__ import annotations

from hashlib import sha256
from uuid import UUID, uuid5

NAMESPACE = UUID("6f1c6c1e-5d0b-5f57-9a3e-0f4d3f3b8a51")


def _derive(*parts: object) -> UUID:
    # Parts are joined by a character that no id and no kind holds, so different parts never meet in one name.
    return uuid5(NAMESPACE, "\x1f".join(str(part) for part in parts))


def default_knowledge_base_id(organization_id: UUID) -> UUID:
    """Id of the knowledge base that every organization has."""
    return _derive("knowledge_base", organization_id, "default")


def source_id(organization_id: UUID, knowledge_base_id: UUID, kind: str, reference: str) -> UUID:
    """Id of a source. `reference` is its normalized URL, or the publisher's stable name of it."""
    return _derive("source", organization_id, knowledge_base_id, kind, reference)


def chunk_id(source_id: UUID, content_hash: str, occurrence: int) -> UUID:
    """Id of a chunk. `occurrence` counts equal texts within the source from 0."""
    return _derive("chunk", source_id, content_hash, occurrence)


def event_id(organization_id: UUID, source_id: UUID, revision: int, event_type: str, *parts: object) -> str:
    """Id of an event that is published again with the same id after a crash."""
    return str(_derive("event", organization_id, source_id, revision, event_type, *parts))


def content_hash(text: str) -> str:
    """SHA-256 of a chunk's text, as hex."""
    return sha256(text.encode()).hexdigest()


def blob_key(organization_id: UUID, digest: str) -> str:
    """Where the body with this SHA-256 (hex) lies. A key holds its organization, so none reads another's."""
    return f"organizations/{organization_id}/bodies/{digest[:2]}/{digest}"


def blob_belongs_to(key: str, organization_id: UUID) -> bool:
    """Whether the key lies in the organization's part of the store."""
    return key.startswith(f"organizations/{organization_id}/") and ".." not in key.split("/")
