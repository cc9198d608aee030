"""Writes the JSON Schema of every event: `python -m schemas.export`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from schemas.events import EVENTS, Event
from schemas.topics import TOPICS

FOLDER = Path(__file__).parent / "json"


def json_schema(event: type[Event]) -> dict[str, Any]:
    """JSON Schema (2020-12) of an event's data, with the type and the topics that carry it."""
    topics = [topic.name for topic in TOPICS if event in topic.events]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{event.type}",
        "x-cloudevents-type": event.type,
        "x-topics": topics,
        **event.model_json_schema(),
    }


def write(folder: Path = FOLDER) -> list[Path]:
    """Write all schemas; gives the files."""
    folder.mkdir(exist_ok=True)
    written = []
    for event in EVENTS.values():
        path = folder / f"{event.type}.json"
        path.write_text(json.dumps(json_schema(event), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        written.append(path)
    return written


if __name__ == "__main__":
    write()
