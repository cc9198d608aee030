"""Every event has one golden example and one exported schema, which agree; nothing lies there that no event uses."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from schemas.cloudevents import EventError, new_event_id, read_envelope, read_event, to_headers, to_value
from schemas.codes import Code
from schemas.events import EVENTS
from schemas.export import json_schema
from schemas.topics import TOPICS

ROOT = Path(__file__).parents[2] / "schemas"
TYPES = sorted(EVENTS)


def example(type_: str) -> dict[str, object]:
    return json.loads((ROOT / "examples" / f"{type_}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("folder", ["examples", "json"])
def test_there_is_one_file_for_each_event_and_no_other(folder: str) -> None:
    assert sorted(path.stem for path in (ROOT / folder).glob("*.json")) == TYPES


@pytest.mark.parametrize("type_", TYPES)
def test_the_exported_schema_is_that_of_the_code(type_: str) -> None:
    exported = json.loads((ROOT / "json" / f"{type_}.json").read_text(encoding="utf-8"))
    assert exported == json.loads(json.dumps(json_schema(EVENTS[type_]))), "run `python -m schemas.export`"


@pytest.mark.parametrize("type_", TYPES)
def test_the_example_follows_the_schema_and_survives_a_round_trip(type_: str) -> None:
    data = example(type_)
    Draft202012Validator(json_schema(EVENTS[type_])).validate(data)
    event = EVENTS[type_].model_validate(data)
    headers = to_headers(event, id=new_event_id(event), source="/test", time=datetime(2026, 1, 2, tzinfo=UTC))
    envelope = read_envelope(headers)
    assert (envelope.type, envelope.source, envelope.time) == (type_, "/test", datetime(2026, 1, 2, tzinfo=UTC))
    assert read_event(envelope, to_value(event), {type_}) == event
    assert json.loads(to_value(event)) == data


@pytest.mark.parametrize("type_", TYPES)
def test_unknown_fields_are_ignored(type_: str) -> None:
    data = example(type_) | {"field_of_a_later_minor_version": {"a": 1}}
    Draft202012Validator(json_schema(EVENTS[type_])).validate(data)
    assert EVENTS[type_].model_validate(data) == EVENTS[type_].model_validate(example(type_))


@pytest.mark.parametrize("type_", TYPES)
def test_each_event_is_on_exactly_one_topic_and_its_key_names_the_organization(type_: str) -> None:
    assert [type_ in topic.types for topic in TOPICS].count(True) == 1
    event = EVENTS[type_].model_validate(example(type_))
    assert event.key().decode().startswith(str(event.organization_id))


def test_an_identity_gives_the_same_id_again_and_another_revision_another() -> None:
    event = EVENTS["kb.source.due.v1"].model_validate(example("kb.source.due.v1"))
    later = event.model_copy(update={"revision": event.wish_revision() + 1})  # type: ignore[operator]
    assert new_event_id(event) == new_event_id(event) != new_event_id(later)


REQUIRED = [("ce_specversion", b"1.0"), ("ce_id", b"1"), ("ce_source", b"/x"), ("ce_type", b"kb.source.due.v1")]


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ([*REQUIRED, ("x", None)], Code.EVENT_UNREADABLE),
        ([*REQUIRED, ("x", b"\xff")], Code.EVENT_UNREADABLE),
        (REQUIRED[:3], Code.EVENT_UNREADABLE),
        ([("ce_specversion", b"2.0"), *REQUIRED[1:]], Code.EVENT_UNKNOWN),
        ([*REQUIRED, ("ce_time", b"yesterday")], Code.EVENT_UNREADABLE),
        ([REQUIRED[0], ("ce_id", b"x" * 600), *REQUIRED[2:]], Code.EVENT_INVALID),
    ],
)
def test_headers_that_are_no_event_are_refused_with_a_code(headers: list[tuple[str, bytes]], code: Code) -> None:
    with pytest.raises(EventError) as refused:
        read_envelope(headers)
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (None, Code.EVENT_UNREADABLE),
        (b"{", Code.EVENT_UNREADABLE),
        (b"\xff\xfe", Code.EVENT_UNREADABLE),
        (b"{}", Code.EVENT_INVALID),
        (b"[]", Code.EVENT_INVALID),
    ],
)
def test_values_that_are_no_event_are_refused_with_a_code(value: bytes | None, code: Code) -> None:
    with pytest.raises(EventError) as refused:
        read_event(read_envelope(REQUIRED), value, {"kb.source.due.v1"})
    assert refused.value.code == code


def test_a_type_that_the_topic_does_not_carry_is_unknown() -> None:
    with pytest.raises(EventError) as refused:
        read_event(read_envelope(REQUIRED), b"{}", {"kb.source.fetched.v1"})
    assert refused.value.code == Code.EVENT_UNKNOWN
