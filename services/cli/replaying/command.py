"""The command."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from services.cli.options import Json, Organization

if TYPE_CHECKING:
    from services.query.fusion import Fusion

_MOST_CHANGED = 5


def replay(
    org: Organization = None,
    fusion: Annotated[
        str | None, typer.Option(help="scores, rrf, dense or keyword. Default: as each query was asked.")
    ] = None,
    space: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Embedding space, as local/multilingual-e5-small@384. Default: KB_MODEL's."),
    ] = None,
    k: Annotated[int | None, typer.Option("--k", min=1, max=100, help="Default: as each query was asked.")] = None,
    last: Annotated[int, typer.Option(min=1, help="Queries, from the newest one backwards.")] = 200,
    report: Annotated[Path | None, typer.Option(metavar="FILE.html", help="Write a page with plots.")] = None,
    json: Json = False,
) -> None:
    """Ask logged queries again, and compare the answers with those that were given then.

    Reads the database that KB_POSTGRES_DSN names, or the running stack's. Nothing is logged anew.
    """
    import asyncio

    from services.cli.addresses import postgres_settings
    from services.cli.organizations import organization_id
    from services.cli.printing import emit
    from services.cli.replaying.replaying import Plan
    from services.cli.replaying.replaying import replay as replayed
    from services.cli.replaying.summary import summary
    from services.cli.settings import CommandSettings
    from services.query.settings import AccessSettings

    _check_report(report)
    organization = organization_id(org) if org else AccessSettings().organization
    plan = Plan(organization, last, _fusion(fusion), space, k)
    found = asyncio.run(replayed(postgres_settings(CommandSettings()), plan))
    result = {
        "organization": organization,
        "fusion": fusion,
        "space": found.space,
        "k": k,
        "without_text": found.without_text,
        **summary(found.compared),
    }
    if report is not None:
        from services.cli.replaying.page import page

        report.write_text(page(result), encoding="utf-8")
    emit(result, json, _lines)


def _fusion(name: str | None) -> Fusion | None:
    from typing import get_args

    from schemas.codes import Code
    from services.cli.failures import CommandFailed
    from services.query.fusion import Fusion

    known: dict[str, Fusion] = {each: each for each in get_args(Fusion)}
    if name is not None and name not in known:
        raise CommandFailed(Code.REQUEST_INVALID, f"no fusion {name!r}: there are {', '.join(known)}")
    return None if name is None else known[name]


def _check_report(report: Path | None) -> None:
    # Before the work, which can take long.
    from schemas.codes import Code
    from services.cli.failures import CommandFailed

    if report is not None and (report.is_dir() or not report.absolute().parent.is_dir()):
        raise CommandFailed(Code.NOT_FOUND, f"no file can be written at {report}")


def _lines(result: dict[str, Any]) -> Iterable[str]:
    from services.cli.printing import table
    from services.cli.replaying.summary import MEASURES

    if not result["queries"]:
        yield "the log holds no query that could be asked again"
    else:
        rows = [{"measure": name, **_rounded(result[name])} for name in (*MEASURES, "took_ms_before", "took_ms")]
        yield from table(rows, tuple(rows[0]))
        yield f"{result['unchanged']} of {result['queries']} queries are answered as before. Most changed:"
        for row in result["compared"][:_MOST_CHANGED]:
            yield f"  overlap {row['overlap']:.2f}  rbo {row['rbo']:.2f}  {row['query']}"
    for field, remark in (
        ("gone_chunks", "chunks of the old answers are gone, and were left out"),
        ("without_text", "queries were logged without their texts"),
    ):
        if result[field]:
            yield f"{result[field]} {remark}"


def _rounded(distribution: dict[str, Any]) -> dict[str, Any]:
    return {name: round(value, 3) if isinstance(value, float) else value for name, value in distribution.items()}
