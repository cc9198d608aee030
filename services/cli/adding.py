"""`kb add`."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from services.cli.options import Json, KnowledgeBase, Organization, Timeout

if TYPE_CHECKING:
    from services.cli.client import Client

_POLL_SECONDS = 0.5


def add(
    what: Annotated[str, typer.Argument(metavar="URL|FILE|-", help="A page, a file, or - for text on standard input.")],
    org: Organization = None,
    kb: KnowledgeBase = None,
    title: Annotated[str | None, typer.Option(help="Title, instead of the document's.")] = None,
    description: Annotated[str | None, typer.Option(help="What the document is about; searched too.")] = None,
    external_id: Annotated[
        str | None, typer.Option(help="Your stable name of it: adding it again replaces the content.")
    ] = None,
    language: Annotated[str | None, typer.Option(help="ISO 639-1 code, instead of what the document says.")] = None,
    crawl: Annotated[bool, typer.Option("--crawl", help="Bring the pages in, too, that the page leads to.")] = False,
    max_pages: Annotated[int | None, typer.Option(min=1, max=5000, help="Most pages of the crawl.")] = None,
    depth: Annotated[int | None, typer.Option(min=0, max=20, help="Most links from the page.")] = None,
    prefix: Annotated[str | None, typer.Option(help="What the paths of all pages begin with.")] = None,
    public: Annotated[bool, typer.Option("--public/--not-public", help="Not public: staff alone sees it.")] = True,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Return when it can be found.")] = False,
    timeout: Timeout = 300.0,
    json: Json = False,
) -> None:
    """Add a document: a page, a file, or text from standard input. With --crawl, the site of the page."""
    from services.cli.client import Client
    from services.cli.printing import emit
    from services.cli.settings import CommandSettings

    given = {"title": title, "description": description, "external_id": external_id, "language": language}
    fields = {**_given(given), "is_public": public}
    limits = _given({"max_pages": max_pages, "depth": depth, "prefix": prefix})
    if crawl and is_url(what):
        fields["crawl"] = limits
    elif crawl or limits:
        raise typer.BadParameter("--crawl and its limits go with a URL, and the limits with --crawl")
    with Client(CommandSettings(), org) as client:
        accepted = _add(client, client.knowledge_base(kb), what, fields)
        result = _wait(client, accepted["id"], timeout, is_site=crawl) if wait else accepted
    emit(result, json, _lines)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _wait(client: Client, source: str, seconds: float, *, is_site: bool) -> dict[str, Any]:
    """The source when it is ready, and of a site all pages are ready or failed. Raises CommandFailed."""
    from schemas.codes import Code
    from services.cli.failures import CommandFailed

    deadline = time.monotonic() + seconds
    found = client.wait(source, seconds)
    while is_site and not (found["crawl"] and found["crawl"]["is_settled"]):
        if time.monotonic() > deadline:
            raise CommandFailed(Code.LEASE_LOST, f"the crawl of {source} goes on after {seconds:g} s: {found['crawl']}")
        time.sleep(_POLL_SECONDS)
        found = client.wait(source, max(deadline - time.monotonic(), 0))
    return found


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
        if crawl := source.get("crawl"):
            yield f"{crawl['pages']} pages: {crawl['ready']} ready, {crawl['failed']} failed"
    else:
        yield f"{source['id']}  accepted"
