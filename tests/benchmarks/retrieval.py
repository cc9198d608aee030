"""Retrieval quality on test collections, ours and LanceDB's, on the same chunks and vectors. Prints one JSON document.

    python -m tests.benchmarks.retrieval DIR ... [--model local/NAME ...] [--peer-python PYTHON] [--limit N]

Everything goes through `kb eval`, and what it ingests is kept in KB_HOME. PYTHON is an interpreter that has lancedb.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, get_args

import numpy as np
import psycopg
from psycopg import sql

from services.cli.addresses import running_stack
from services.cli.evaluation.collection import limited
from services.cli.evaluation.evaluation import Evaluated, Plan, evaluate
from services.cli.evaluation.layout import read_collections
from services.cli.evaluation.measures import ndcg, percentile
from services.cli.evaluation.system import System, own_folder, with_system
from services.cli.settings import CommandSettings
from services.encoder.encoder import Encoder
from services.encoder.settings import LOCAL_DEFAULT, EncoderSettings
from services.query.fusion import Fusion
from tests.benchmarks.machine import description

K = 100
PATIENCE = 600.0
PEER = Path(__file__).with_name("retrieval_peer.py")
CHUNKS = """
    select c.source_id, coalesce(s.title || E'\n', '') || c.text, v.embedding::real[]
    from chunk c
    join knowledge_source s on s.organization_id = c.organization_id and s.id = c.source_id
    join {} v on v.organization_id = c.organization_id and v.source_id = c.source_id and v.chunk_id = c.id
    where c.organization_id = %s
    order by c.source_id, c.id
"""


def of_model(model: str, folders: Sequence[Path], limit: int | None, peer_python: str | None) -> list[dict[str, Any]]:
    """A row for each collection: nDCG@10 by fusion, and the peer's."""
    os.environ["KB_MODEL"] = model  # for the services that are started
    collections = read_collections(folders)
    if limit is not None:
        collections = [limited(each, limit) for each in collections]
    plan = Plan(collections, get_args(Fusion), K, PATIENCE)
    rows: list[dict[str, Any]] = []

    async def work(system: System) -> int:
        evaluated = await evaluate(system, plan, _say)
        for collection in collections:
            results = [each for each in evaluated if each.collection is collection]
            row = _row(results)
            if peer_python and system.encoder:
                row |= await _peer(peer_python, system.encoder, results[0])
            rows.append(row)
        return 0

    if code := asyncio.run(with_system(CommandSettings(), work, _say)):
        raise SystemExit(code)
    return rows


def _row(results: Sequence[Evaluated]) -> dict[str, Any]:
    figures = {result.fusion: result.figures() for result in results}
    first = figures[results[0].fusion]
    shared = {name: first[name] for name in ("set", "model", "queries", "documents", "chunks")}
    quality = {fusion: of_fusion["nDCG@10"] for fusion, of_fusion in figures.items()}
    return shared | {"failed": len(first["failed"]), "nDCG@10": quality, "search_ms": first["search_ms"]}


async def _peer(python: str, encoder: Encoder, result: Evaluated) -> dict[str, Any]:
    """Runs the peer on what our database holds."""
    with tempfile.TemporaryDirectory(prefix="kb-retrieval-") as home:
        await _hand_over(Path(home), encoder, result)
        quiet = os.environ | {"LANCEDB_LOG": "error"}
        ended = await asyncio.to_thread(
            subprocess.run, [python, str(PEER), home], env=quiet, stdout=subprocess.PIPE, check=True, text=True
        )
    answer = json.loads(ended.stdout.strip().splitlines()[-1])
    pairs = zip(result.searchable.queries, answer["rankings"], strict=True)
    times = {f"p{share}": round(percentile(answer["milliseconds"], share / 100), 2) for share in (50, 95)}
    quality = round(fmean(ndcg(ranking, query.relevant) for (query, _), ranking in pairs), 4)
    return {"lancedb": {"version": answer["version"], "nDCG@10": quality, "search_ms": times}}


async def _hand_over(home: Path, encoder: Encoder, result: Evaluated) -> None:
    chunks = await asyncio.to_thread(_chunks, encoder.space.name, result)
    queries = [text for _, text in result.searchable.queries]
    asked = [np.frombuffer(await encoder.embed_query(text), "<f4") for text in queries]
    _write(home / "chunks.jsonl", [{"document": document, "text": text} for document, text, _ in chunks])
    _write(home / "queries.jsonl", [{"text": text} for text in queries])
    vectors = np.array([vector for _, _, vector in chunks], "<f4")
    np.savez(home / "vectors.npz", chunks=vectors, queries=np.array(asked))


def _chunks(space: str, result: Evaluated) -> list[tuple[str, str, list[float]]]:
    """Document, text and vector of each chunk."""
    stack = running_stack(own_folder(CommandSettings(), EncoderSettings()))
    if stack is None:
        raise RuntimeError("chunks are read from a system of the evaluation's own only")
    with psycopg.connect(stack.dsn) as connection:
        ((number,),) = connection.execute("select id from embedding_space where name = %s", (space,)).fetchall()
        query = sql.SQL(CHUNKS).format(sql.Identifier(f"chunk_vector_{number}"))
        found = connection.execute(query, (result.ingested.organization,)).fetchall()
    return [(result.ingested.documents[source].id, text, vector) for source, text, vector in found]


def _write(path: Path, rows: Sequence[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    parser.add_argument("--model", action="append", help=f"repeatable; default: {LOCAL_DEFAULT}")
    parser.add_argument("--peer-python", metavar="PYTHON")
    parser.add_argument("--limit", type=int, metavar="N", help="documents of each collection at most")
    asked = parser.parse_args()
    models = asked.model or [LOCAL_DEFAULT]
    rows = [row for model in models for row in of_model(model, asked.folders, asked.limit, asked.peer_python)]
    print(json.dumps({"machine": description(), "k": K, "results": rows}, indent=2))


if __name__ == "__main__":
    main()
