"""The command `kb`. Each command loads what it needs when it runs, so that help is quick."""

from __future__ import annotations

import logging
import sys

import typer

from services.cli import adding, dead_letters, documents, maintenance, running, searching, sources
from services.cli.evaluation import command as evaluation
from services.cli.failures import as_failure, report
from services.cli.replaying import command as replaying

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Documents of organizations, ingested over Kafka and served as cited chunks by hybrid search.",
)
for command in (
    running.up,
    running.demo,
    adding.add,
    searching.search,
    documents.parse,
    documents.chunk,
    searching.usage,
    replaying.replay,
    maintenance.migrate,
    maintenance.check,
    maintenance.drain,
):
    app.command()(command)
app.command("eval")(evaluation.evaluate)
app.add_typer(sources.app, name="sources")
app.add_typer(dead_letters.app, name="dlq")
app.add_typer(maintenance.topics, name="topics")

_ALWAYS_JSON = ("parse", "chunk")


def main() -> None:
    """Entry point of the distribution."""
    _log_nothing()
    try:
        app()
    except Exception as error:
        failure = as_failure(error)
        if failure is None:
            raise
        report(failure, "--json" in sys.argv or sys.argv[1:2] in [[name] for name in _ALWAYS_JSON])
        sys.exit(failure.exit_code)


def _log_nothing() -> None:
    # What a library logs before it raises, the failure says once.
    logging.basicConfig(level=logging.CRITICAL, format="%(message)s", stream=sys.stderr)


if __name__ == "__main__":
    main()
