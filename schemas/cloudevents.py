"""CloudEvents 1.0 in Kafka's binary mode: attributes are headers `ce_*`, the data is the message's value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

from pydantic import ValidationError

from schemas.codes import Code
from schemas.events import EVENTS, Event
from schemas.identifiers import event_id

Headers = list[tuple[str, bytes]]
ATTRIBUTE_BYTES = 512
"""Of the id and the source of an event, which are remembered."""

REQUIRED = ("ce_specversion", "ce_id", "ce_source", "ce_type")


class EventError(Exception):
    """The message is not an event that is known here. `code` says in which way."""

    def __init__(self, code: Code, reason: str) -> None:
        super().__init__(f"{code}: {reason}")
        self.code = code
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Envelope:
    """The attributes of a received event. `id` is unique within `source`."""

    id: str
    source: str
    type: str
    time: datetime | None


def new_event_id(event: Event) -> str:
    """The id to publish under: derived where the event has an identity, else a new one."""
    identity = event.identity()
    revision = event.wish_revision()
    if identity is None or revision is None:
        return str(uuid4())
    return event_id(event.organization_id, event.source_id, revision, event.type, *identity)  # type: ignore[attr-defined]


def to_headers(event: Event, *, id: str, source: str, time: datetime) -> Headers:
    """Headers of the event. `source` names the producer as a URI reference, such as `/kb/fetcher`."""
    headers = [
        ("ce_specversion", b"1.0"),
        ("ce_id", id.encode()),
        ("ce_source", source.encode()),
        ("ce_type", event.type.encode()),
        ("ce_time", time.isoformat().encode()),
        ("content-type", b"application/json"),
    ]
    if subject := event.subject():
        headers.append(("ce_subject", subject.encode()))
    if (revision := event.wish_revision()) is not None:
        headers.append(("ce_revision", str(revision).encode()))
    return headers


def to_value(event: Event) -> bytes:
    """The event's data as JSON in UTF-8; absent fields are left out."""
    return event.model_dump_json(exclude_none=True).encode()


def read_envelope(headers: Iterable[tuple[str, bytes | None]]) -> Envelope:
    """The attributes among a message's headers. Raises EventError(EVENT_UNREADABLE)."""
    found: dict[str, str] = {}
    for name, value in headers:
        if value is None:
            raise EventError(Code.EVENT_UNREADABLE, f"the header {name!r} has no value")
        try:
            found[name] = value.decode()
        except UnicodeDecodeError:
            raise EventError(Code.EVENT_UNREADABLE, f"the header {name!r} is not UTF-8") from None
    if missing := [name for name in REQUIRED if not found.get(name)]:
        raise EventError(Code.EVENT_UNREADABLE, f"the headers {', '.join(missing)} are missing")
    if not found["ce_specversion"].startswith("1."):
        raise EventError(Code.EVENT_UNKNOWN, f"CloudEvents {found['ce_specversion']!r} is not known")
    for name in ("ce_id", "ce_source"):
        if len(found[name].encode()) > ATTRIBUTE_BYTES:
            raise EventError(Code.EVENT_INVALID, f"{name} has more than {ATTRIBUTE_BYTES} bytes")
    return Envelope(found["ce_id"], found["ce_source"], found["ce_type"], _time(found.get("ce_time")))


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise EventError(Code.EVENT_UNREADABLE, f"ce_time {text!r} is not an RFC 3339 time") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def read_event(envelope: Envelope, value: bytes | None, expected: Iterable[str]) -> Event:
    """The event of a message. Raises EventError(EVENT_UNKNOWN, EVENT_UNREADABLE or EVENT_INVALID).

    `expected` are the types that the topic carries.
    """
    if envelope.type not in expected:
        raise EventError(Code.EVENT_UNKNOWN, f"the type {envelope.type!r} is not known on this topic")
    if value is None:
        raise EventError(Code.EVENT_UNREADABLE, "the message has no value")
    try:
        return EVENTS[envelope.type].model_validate_json(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        code = Code.EVENT_UNREADABLE if first["type"] == "json_invalid" else Code.EVENT_INVALID
        where = ".".join(str(part) for part in first["loc"])
        raise EventError(code, f"{where}: {first['msg']}" if where else first["msg"]) from None


def read_stored(type: str, data: object) -> Event:
    """An event of the given type from its data as a Python object, as the database keeps it."""
    return EVENTS[type].model_validate(data)
