"""Options that several commands take."""

from __future__ import annotations

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Organization = Annotated[
    str | None,
    typer.Option(
        "--org",
        envvar="KB_ORG",
        metavar="UUID|NAME",
        help="Organization, where the query service asks for no key. A name stands for a UUID that is derived from it.",
    ),
]
KnowledgeBase = Annotated[
    str | None, typer.Option("--kb", metavar="UUID|NAME", help="Knowledge base. Default: the organization's own.")
]
SourceId = Annotated[str, typer.Argument(metavar="ID", help="Id of the source.")]
Timeout = Annotated[float, typer.Option(help="Seconds to wait at most.")]
