"""`kb up` and `kb demo`."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.options import Json, Organization, Timeout

if TYPE_CHECKING:
    from services.chassis.embedded.supervisor import Supervisor
    from services.cli.addresses import Addresses


def up() -> None:
    """Run everything on this machine until Ctrl-C: database, broker, services. Crashed ones come back."""
    from services.cli.settings import CommandSettings
    from services.cli.stack import INTERRUPTED, Stack

    settings = CommandSettings()

    async def work(addresses: Addresses, supervisor: Supervisor) -> int:
        for line in (
            f"query service  {addresses.url}   (API: {addresses.url}/docs)",
            f"broker         {addresses.bootstrap}",
            f"database       {addresses.dsn}",
            f"logs           {settings.folder / 'logs'}",
            "Ctrl-C ends all.",
        ):
            print(line, flush=True)
        await supervisor.run()
        return 0

    code = asyncio.run(Stack(settings, _say).run(work))
    # Ctrl-C is how it is meant to end.
    raise typer.Exit(0 if code == INTERRUPTED else code)


def demo(
    docs: Annotated[
        str, typer.Option(metavar="FOLDER|URL", help="Documents to ingest. Default: this project's own.")
    ] = "",
    org: Organization = None,
    timeout: Timeout = 600.0,
    json: Json = False,
) -> None:
    """Ingest documents, ask questions about them, print cited answers."""
    from services.cli.addresses import running_stack
    from services.cli.demo.documents import find_documents
    from services.cli.demo.run import Demo
    from services.cli.settings import CommandSettings
    from services.cli.stack import Stack

    settings = CommandSettings()
    say = _say_aside if json else _say
    show = Demo(settings, find_documents(docs), org, timeout, say, own=not docs)

    async def work(addresses: Addresses, supervisor: Supervisor) -> int:
        return await show.run(addresses, as_json=json)

    stack = running_stack(settings.folder)
    if stack is not None:
        say(f"using the stack that runs at {stack.url}")
        raise typer.Exit(asyncio.run(show.run(stack, as_json=json)))
    raise typer.Exit(asyncio.run(Stack(settings, say).run(work)))


def _say(line: str) -> None:
    print(line, flush=True)


def _say_aside(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
