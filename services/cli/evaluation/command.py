"""`kb eval`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from services.cli.options import Json

if TYPE_CHECKING:
    from services.cli.evaluation.evaluation import Evaluated, Plan
    from services.query.fusion import Fusion

_COLUMNS = ("set", "fusion", "nDCG@10", "recall@30", "MRR@10", "queries", "documents", "chunks", "failed", "search")


def evaluate(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR...", help="Folders with corpus.jsonl, queries.jsonl and qrels/test.tsv or qrels.tsv."
        ),
    ],
    fusion: Annotated[str, typer.Option(help="scores, rrf, dense, keyword, several with commas, or all.")] = "scores",
    model: Annotated[
        str | None, typer.Option(help="Model for documents and queries, as KB_MODEL names it.", envvar="KB_MODEL")
    ] = None,
    together: Annotated[bool, typer.Option("--together", help="Ask each set of the documents of all sets.")] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Documents of each set at most, for a quick look.")] = None,
    k: Annotated[int, typer.Option("--k", min=1, max=1000, help="Chunks that each query asks for.")] = 100,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget what was ingested for this model before.")] = False,
    patience: Annotated[float, typer.Option(help="Seconds without a finished document before it gives up.")] = 300.0,
    report: Annotated[Path | None, typer.Option(metavar="FILE.html", help="Write a page with plots.")] = None,
    json: Json = False,
) -> None:
    """Measure retrieval quality: ingest test collections through the pipeline, ask their queries, judge the answers.

    What was ingested is kept in KB_HOME, so that another run asks at once. JSON is one object for one set and fusion,
    else `results` holds one for each. KB_POSTGRES_DSN, KB_KAFKA_BOOTSTRAP and KB_BLOB_URL together name a system that
    runs; it is used instead.
    """
    from services.cli.evaluation import collection
    from services.cli.evaluation.layout import read_collections
    from services.cli.printing import emit

    fusions = _fusions(fusion)
    _check_report(report)
    collections = read_collections(folders)
    if limit is not None:
        collections = [collection.limited(each, limit) for each in collections]
    if together:
        collections = collection.together(collections)
    from services.cli.evaluation.evaluation import Plan

    results = _run(Plan(collections, fusions, k, patience), model, fresh)
    if report is not None:
        from services.cli.evaluation.page import page

        report.write_text(page(results), encoding="utf-8")
    rows = [result.figures() for result in results]
    emit(rows[0] if json and len(rows) == 1 else {"results": rows}, json, _lines)


def _run(plan: Plan, model: str | None, fresh: bool) -> list[Evaluated]:
    import asyncio
    import os

    from services.cli.evaluation.evaluation import evaluate as evaluated
    from services.cli.evaluation.system import System, with_system
    from services.cli.settings import CommandSettings

    if model:
        os.environ["KB_MODEL"] = model  # for this process and the services that it starts
    results: list[Evaluated] = []

    async def work(system: System) -> int:
        results.extend(await evaluated(system, plan, _say))
        return 0

    if code := asyncio.run(with_system(CommandSettings(), work, _say, fresh=fresh)):
        raise typer.Exit(code)
    return results


def _fusions(text: str) -> Sequence[Fusion]:
    from typing import get_args

    from schemas.codes import Code
    from services.cli.failures import CommandFailed
    from services.query.fusion import Fusion

    known: dict[str, Fusion] = {name: name for name in get_args(Fusion)}
    names = list(known) if text == "all" else list(dict.fromkeys(name.strip() for name in text.split(",")))
    if unknown := [name for name in names if name not in known]:
        raise CommandFailed(Code.REQUEST_INVALID, f"no fusion {unknown[0]!r}: there are {', '.join(known)} and all")
    return [known[name] for name in names]


def _check_report(report: Path | None) -> None:
    # Before the work, which can take hours.
    from schemas.codes import Code
    from services.cli.failures import CommandFailed

    if report is not None and (report.is_dir() or not report.absolute().parent.is_dir()):
        raise CommandFailed(Code.NOT_FOUND, f"no file can be written at {report}")


def _lines(result: dict[str, Any]) -> Iterable[str]:
    from services.cli.printing import table

    rows = result["results"]
    shown = []
    for row in rows:
        times = " / ".join(f"{value:g}" for value in row["search_ms"].values())
        shown.append(row | {"failed": len(row["failed"]), "search": f"{times} ms"})
    yield from table(shown, _COLUMNS)
    yield f"model {rows[0]['model']}; {rows[0]['k']} chunks a query; search: p50 / p95"
    for row in {row["set"]: row for row in rows}.values():
        yield from _remarks(row)


def _remarks(row: dict[str, Any]) -> Iterable[str]:
    for field, remark in (
        ("queries_cut", "queries were longer than a search takes, and cut"),
        ("queries_too_short", "queries were shorter than a search takes, and left out"),
        ("queries_left_out", "queries that no document here answers were left out"),
        ("judgments_left_out", "judgments on what is not there were left out"),
    ):
        if row[field]:
            yield f"{row['set']}: {row[field]} {remark}"
    for id, (code, reason) in row["failed"].items():
        yield f"{row['set']}: failed: {id}: {code}: {reason}"
    if row["degraded"]:
        yield f"{row['set']}: {row['degraded']}: keywords alone were searched"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
