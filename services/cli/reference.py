"""Writes the pages of docs/ that follow from the code: `python -m services.cli.reference`."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from prometheus_client.metrics import MetricWrapperBase
from pydantic import AliasChoices, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from pydantic_settings import BaseSettings

import services
from schemas.codes import CATALOGUE, Code
from schemas.events import EVENTS, Event
from schemas.topics import DEAD_LETTER_RETENTION, TOPICS, Topic
from services.chassis import metrics

DOCS = Path(__file__).parents[2] / "docs"
INTROS = Path(__file__).parent / "reference"

_ROOMS = ("chassis", "encoder", "ledger", "fetcher", "chunker", "embedder", "indexer", "query", "cli")
_FIRST_CODES = {
    "Documents": Code.UNSUPPORTED_TYPE,
    "Fetching": Code.URL_INVALID,
    "Embedding": Code.PROVIDER_DOWN,
    "Delivery": Code.EVENT_UNREADABLE,
    "Dependencies": Code.POSTGRES_DOWN,
    "Limits of an organization": Code.QUOTA_SOURCES,
    "Requests": Code.QUERY_INVALID,
    "Warnings": Code.W001,
}


def pages() -> dict[str, str]:
    """Text of each page by its file name."""
    parts = {"settings": _settings(), "errors": _errors(), "metrics": _metrics(), "events": _events()}
    return {f"{name}.md": "\n".join([_intro(name), *lines]).rstrip() + "\n" for name, lines in parts.items()}


def _intro(name: str) -> str:
    return (INTROS / f"{name}.md").read_text(encoding="utf-8")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
    yield ""


def _first_line(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").partition("\n")[0]


def settings_classes() -> list[type[BaseSettings]]:
    """Every class of settings of the services, room by room."""
    found: dict[str, list[type[BaseSettings]]] = {room: [] for room in _ROOMS}
    for module in pkgutil.walk_packages(services.__path__, "services."):
        if not module.name.endswith(".settings"):
            continue
        for thing in vars(importlib.import_module(module.name)).values():
            if isinstance(thing, type) and issubclass(thing, BaseSettings) and thing.__module__ == module.name:
                found[module.name.split(".")[1]].append(thing)
    return [thing for room in _ROOMS for thing in found[room]]


def _settings() -> Iterator[str]:
    room = ""
    for thing in settings_classes():
        if room != (room := thing.__module__.split(".")[1]):
            yield f"## {room}\n"
        yield f"### {thing.__name__}\n"
        yield f"{_first_line(thing)}\n"
        rows = []
        for name, field in thing.model_fields.items():
            named = ", ".join(f"`{variable}`" for variable in variables(thing, name))
            rows.append((named, _default(field), field.description or ""))
        yield from _table(("variable", "default", "meaning"), rows)


def variables(thing: type[BaseSettings], name: str) -> list[str]:
    """The environment variables that a field is read from, the first one first."""
    alias = thing.model_fields[name].validation_alias
    if isinstance(alias, AliasChoices):
        return [str(choice) for choice in alias.choices]
    return [f"{thing.model_config['env_prefix']}{name}".upper()]


def _default(field: FieldInfo) -> str:
    default = field.default
    if default is PydanticUndefined or default is None or default == ():
        return ""
    if isinstance(default, SecretStr):
        default = default.get_secret_value()
    if isinstance(default, tuple):
        default = ",".join(map(str, default))
    if isinstance(default, bool):
        default = str(default).lower()
    return f"`{default}`" if str(default) else ""


def _errors() -> Iterator[str]:
    starts = {code: title for title, code in _FIRST_CODES.items()}
    groups: list[tuple[str, list[tuple[str, str, str]]]] = []
    for code, advice in CATALOGUE.items():
        if code in starts:
            groups.append((starts[code], []))
        groups[-1][1].append((f"`{code}`", advice.meaning, advice.remedy))
    for title, rows in groups:
        yield f"## {title}\n"
        yield from _table(("code", "meaning", "what to do"), rows)


def _metrics() -> Iterator[str]:
    rows = []
    for thing in vars(metrics).values():
        if isinstance(thing, MetricWrapperBase):
            (family,) = thing.describe()
            name = f"{family.name}_total" if family.type == "counter" else family.name
            rows.append((f"`{name}`", family.type, ", ".join(thing._labelnames), family.documentation))
    yield from _table(("metric", "kind", "labels", "meaning"), rows)


def _events() -> Iterator[str]:
    yield "## Topics\n"
    yield from _table(
        ("topic", "key", "written by", "read by", "partitions", "kept for"), [_topic(topic) for topic in TOPICS]
    )
    days = DEAD_LETTER_RETENTION.days
    yield f"What a group can't process goes to a topic of its own, of one partition, kept for {days} days.\n"
    rows = [(f"`{topic.dead_letter(group)}`",) for topic in TOPICS for group in topic.consumers]
    yield from _table(("dead letters",), rows)
    for topic in TOPICS:
        yield f"## {topic.name}\n"
        for event in topic.events:
            yield from _event(event)
    unused = sorted(set(EVENTS) - {event.type for topic in TOPICS for event in topic.events})
    if unused:
        raise ValueError(f"no topic carries {', '.join(unused)}")


def _topic(topic: Topic) -> tuple[str, ...]:
    producers, consumers = ", ".join(topic.producers), ", ".join(topic.consumers) or "upstream"
    days = f"{topic.retention.days} days"
    return f"`{topic.name}`", topic.key, producers, consumers, str(topic.partitions), days


def _event(event: type[Event]) -> Iterator[str]:
    yield f"### {event.type}\n"
    yield f"{_first_line(event)}\n"
    rows = [
        (f"`{name}`", "yes" if field.is_required() else "", field.description or "")
        for name, field in event.model_fields.items()
    ]
    yield from _table(("field", "required", "meaning"), rows)


def write() -> None:
    """Write all pages."""
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
