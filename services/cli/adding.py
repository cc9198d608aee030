"""`kb add`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from services.cli.options import Json, KnowledgeBase, Organization, Timeout

if TYPE_CHECKING:
    from services.cli.client import Client


def add(
    what: Annotated[str, typer.Argument(metavar="URL|FILE|-", help="A page, a file, or - for text on standard input.")],
    org: Organization = None,
    kb: KnowledgeBase = None,
    title: Annotated[str | None, typer.Option(help="Title, instead of the document's.")] = None,
    description: Annotated[str | None, typer.Option(help="What the document is about; searched too.")] = None,
    external_id: Annotated[
        str | None, typer.Option(help="Your stable name of it: adding it again replaces the content.")
    ] = None,
    public: Annotated[bool, typer.Option("--public/--not-public", help="Not public: staff alone sees it.")] = True,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Return when it can be found.")] = False,
    timeout: Timeout = 300.0,
    json: Json = False,
) -> None:
    """Add a document: a page, a file, or text from standard input."""
    from services.cli.client import Client
    from services.cli.printing import emit
    from services.cli.settings import CommandSettings

    given = {"title": title, "description": description, "external_id": external_id, "is_public": public}
    fields = {name: value for name, value in given.items() if value is not None}
    with Client(CommandSettings(), org) as client:
        accepted = _add(client, client.knowledge_base(kb), what, fields)
        result = client.wait(accepted["id"], timeout) if wait else accepted
    emit(result, json, _lines)


def _add(client: Client, base: str, what: str, fields: dict[str, Any]) -> dict[str, Any]:
    path = f"/v1/knowledge-bases/{base}/sources"
    if what == "-":
        return client.call("POST", path, json={"kind": "text", "text": sys.stdin.read(), **fields})
    if is_url(what):
        return client.call("POST", path, json={"kind": "url", "url": what, **fields})
    return client.add_file(base, existing(what), fields)


def is_url(what: str) -> bool:
    """Whether it is an address, not a file."""
    return what.lower().startswith(("http://", "https://"))


def existing(what: str) -> Path:
    """The file. Raises CommandFailed(NOT_FOUND)."""
    from schemas.codes import Code
    from services.cli.failures import CommandFailed

    path = Path(what)
    if not path.is_file():
        raise CommandFailed(Code.NOT_FOUND, f"there is no file {what}")
    return path


def _lines(source: dict[str, Any]) -> Iterable[str]:
    if "status" in source:
        yield f"{source['id']}  {source['status']}  {source['chunk_count']} chunks, {source['token_count']} tokens"
    else:
        yield f"{source['id']}  accepted"
