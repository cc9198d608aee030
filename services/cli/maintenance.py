"""`kb migrate`, `kb topics apply`, `kb check`, `kb drain`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import typer

from services.cli.options import Json, Timeout

topics = typer.Typer(no_args_is_help=True, help="The broker's topics.")


def migrate(json: Json = False) -> None:
    """Bring the database up to date."""
    from services.chassis.migrations import migrate as apply
    from services.cli.addresses import postgres_settings
    from services.cli.printing import emit
    from services.cli.settings import CommandSettings

    applied = apply(postgres_settings(CommandSettings()).dsn.get_secret_value())
    emit({"applied": applied}, json, lambda _: _made(applied, "the database is up to date"))


@topics.command("apply")
def apply_topics(json: Json = False) -> None:
    """Make the topics that are missing. Those that are there stay as they are."""
    from services.chassis.provisioning import apply_topics as apply
    from services.cli.addresses import kafka_settings
    from services.cli.printing import emit
    from services.cli.settings import CommandSettings

    made = asyncio.run(apply(kafka_settings(CommandSettings())))
    emit({"made": made}, json, lambda _: _made(made, "all topics are there"))


@topics.callback()
def _topics() -> None:
    # A group of one command stays a group.
    pass


def check(json: Json = False) -> None:
    """Look whether everything that the system needs is there."""
    from services.cli import checking
    from services.cli.addresses import kafka_settings, postgres_settings, service_url
    from services.cli.printing import emit
    from services.cli.settings import CommandSettings

    settings = CommandSettings()
    found = asyncio.run(checking.check(service_url(settings), kafka_settings(settings), postgres_settings(settings)))
    emit([finding._asdict() for finding in found], json, _finding_lines)
    if any(finding.state == "error" for finding in found):
        raise typer.Exit(1)


def drain(timeout: Timeout = 300.0, json: Json = False) -> None:
    """Wait until no source is due or in the pipeline, and no message waits."""
    from services.cli import draining
    from services.cli.addresses import kafka_settings, postgres_settings
    from services.cli.printing import emit
    from services.cli.settings import CommandSettings

    settings = CommandSettings()
    left = asyncio.run(draining.drain(kafka_settings(settings), postgres_settings(settings), timeout))
    emit(left._asdict(), json, _outstanding_lines)
    if any(left):
        raise typer.Exit(1)


def _made(names: list[str], nothing: str) -> Iterable[str]:
    yield from names or [nothing]


def _finding_lines(found: list[dict[str, Any]]) -> Iterable[str]:
    for each in found:
        code = f"{each['code']}: " if each["code"] else ""
        yield f"{each['state']:8}{each['name']:12}{code}{each['message']}".rstrip()


def _outstanding_lines(left: dict[str, Any]) -> Iterable[str]:
    if any(left.values()):
        yield f"still {left['sources']} sources, {left['messages']} messages, {left['events']} status events"
    else:
        yield "nothing is outstanding"
