"""`kb sources`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import typer

from services.cli.options import Json, KnowledgeBase, Organization, SourceId

app = typer.Typer(no_args_is_help=True, help="List, show and change sources.")

_COLUMNS = ("id", "status", "stage", "chunk_count", "used_30d", "title", "name")


@app.command("list")
def list_sources(
    org: Organization = None,
    kb: KnowledgeBase = None,
    status: Annotated[str | None, typer.Option(help="pending, ingesting, ready, failed or archived.")] = None,
    json: Json = False,
) -> None:
    """List the sources of a knowledge base."""
    from services.cli.client import Client
    from services.cli.printing import emit
    from services.cli.settings import CommandSettings

    with Client(CommandSettings(), org) as client:
        base = client.knowledge_base(kb)
        found = list(client.pages(f"/v1/knowledge-bases/{base}/sources", status=status))
    emit(found, json, _list_lines)


@app.command()
def show(source: SourceId, org: Organization = None, json: Json = False) -> None:
    """Show a source, in whatever state it is."""
    _call("GET", source, "", org, json)


@app.command()
def refresh(source: SourceId, org: Organization = None, json: Json = False) -> None:
    """Fetch and ingest a source again."""
    _call("POST", source, "/refresh", org, json)


@app.command()
def publish(source: SourceId, org: Organization = None, json: Json = False) -> None:
    """Let everyone see a source who can see its knowledge base."""
    _call("POST", source, "/publish", org, json)


@app.command()
def archive(
    source: SourceId,
    undo: Annotated[bool, typer.Option("--undo", help="Bring it back.")] = False,
    org: Organization = None,
    json: Json = False,
) -> None:
    """Take a source out of every search; nothing is lost."""
    _call("POST", source, "/archive", org, json, {"archived": not undo})


@app.command()
def delete(source: SourceId, org: Organization = None, json: Json = False) -> None:
    """Remove a source with all that was made of it."""
    _call("DELETE", source, "", org, json)


def _call(
    method: str, source: str, action: str, org: str | None, as_json: bool, body: dict[str, Any] | None = None
) -> None:
    from services.cli.client import Client
    from services.cli.printing import emit
    from services.cli.settings import CommandSettings

    with Client(CommandSettings(), org) as client:
        answer = client.call(method, f"/v1/sources/{source}{action}", **({"json": body} if body is not None else {}))
    emit(answer, as_json, lambda found: _show_lines(found) if "status" in found else (f"{found['id']}  accepted",))


def _list_lines(found: list[dict[str, Any]]) -> Iterable[str]:
    from services.cli.printing import table

    def named(source: dict[str, Any]) -> dict[str, Any]:
        name = source["url"] or source["external_id"] or source["filename"]
        return {**source, "title": source["title"] or source["document_title"], "name": name}

    yield from table([named(source) for source in found], _COLUMNS)


def _show_lines(source: dict[str, Any]) -> Iterable[str]:
    for name, value in source.items():
        if value not in (None, {}, []):
            yield f"{name}: {value}"
