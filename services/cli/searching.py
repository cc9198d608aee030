"""`kb search` and `kb usage`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import typer

from services.cli.options import Json, Organization


def search(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The question: 3 to 500 characters.")],
    org: Organization = None,
    k: Annotated[int, typer.Option("--k", help="Chunks of the answer, 1 to 15.")] = 6,
    kb: Annotated[list[str] | None, typer.Option("--kb", help="Only in this knowledge base. Repeatable.")] = None,
    source: Annotated[list[str] | None, typer.Option("--source", help="Only in this source. Repeatable.")] = None,
    fusion: Annotated[str, typer.Option(help="scores or rrf.")] = "scores",
    public_only: Annotated[bool, typer.Option("--public-only", help="Leave out what only staff sees.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Add each arm's rank and score.")] = False,
    json: Json = False,
) -> None:
    """Find the chunks that answer a question, and cite them."""
    from services.cli.client import Client
    from services.cli.printing import emit
    from services.cli.settings import CommandSettings

    with Client(CommandSettings(), org) as client:
        request = {
            "query": text,
            "k": k,
            "knowledge_base_ids": [client.knowledge_base(each) for each in kb] if kb else None,
            "source_ids": source or None,
            "fusion": fusion,
            "public_only": public_only,
            "explain": explain,
        }
        answer = client.call("POST", "/v1/search", json=request)
    emit(answer, json, answer_lines)


def usage(
    org: Organization = None,
    since: Annotated[str | None, typer.Option(metavar="DATE", help="First day, as YYYY-MM-DD.")] = None,
    until: Annotated[str | None, typer.Option(metavar="DATE", help="Last day.")] = None,
    json: Json = False,
) -> None:
    """What embedding has cost, by day and embedding space."""
    from services.cli.client import Client
    from services.cli.printing import emit
    from services.cli.settings import CommandSettings

    days = {name: value for name, value in (("since", since), ("until", until)) if value}
    with Client(CommandSettings(), org) as client:
        answer = client.call("GET", "/v1/usage", params=days)
    emit(answer, json, _usage_lines)


def answer_lines(answer: dict[str, Any], most: int = 600) -> Iterable[str]:
    """Each chunk with its citation. Texts are cut to `most` characters."""
    if answer.get("degraded"):
        yield f"by keyword alone: {answer['degraded']['code']}: {answer['degraded']['reason']}"
    for number, hit in enumerate(answer["hits"], 1):
        yield f"{number}. {hit['title'] or hit['source_id']}   score {hit['score']:.3f}"
        if hit["url"]:
            yield f"   {hit['url']}"
        if hit["heading_path"]:
            yield f"   {' › '.join(hit['heading_path'])}"
        for twin in hit.get("also_in", ()):
            yield f"   also in {twin['url'] or twin['title'] or twin['source_id']}"
        if hit.get("explain"):
            yield f"   {hit['explain']}"
        text = " ".join(hit["text"].split())
        yield f"   {text if len(text) <= most else text[: most - 1] + '…'}"
    if not answer["hits"]:
        yield "nothing was found"


def _usage_lines(answer: dict[str, Any]) -> Iterable[str]:
    from services.cli.printing import table

    yield from table(answer["items"], ("day", "space", "chunks", "reused_chunks", "tokens", "cost_dollars"))
