"""Reads a collection in BEIR's layout.

corpus.jsonl    a document a line: `_id`, `text`, and perhaps `title`
queries.jsonl   a query a line: `_id`, `text`
qrels/test.tsv  query id, document id, grade, with or without a head; qrels.tsv, or the only file in qrels/, is as good,
                and so is the form of TREC with a column between the ids
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from schemas.codes import Code
from services.cli.evaluation.collection import Collection, Document, Query
from services.cli.failures import CommandFailed

_LONGEST_ID = 1_000

Grades = dict[str, dict[str, float]]


def read_collections(folders: Sequence[Path]) -> list[Collection]:
    """The collections, each under the name of its folder, or its path where two have one name."""
    paths = list(dict.fromkeys(folder.expanduser().resolve() for folder in folders))
    names = [path.name for path in paths]
    return [_read(path, path.name if names.count(path.name) == 1 else str(path)) for path in paths]


def _read(folder: Path, name: str) -> Collection:
    if not folder.is_dir():
        raise CommandFailed(Code.NOT_FOUND, f"there is no folder {folder}")
    documents = [
        Document(id, _text(row, "title", at), _text(row, "text", at)) for id, row, at in _rows(folder, "corpus")
    ]
    texts = {id: _text(row, "text", at) for id, row, at in _rows(folder, "queries")}
    judged = _judgments(_judgments_file(folder))
    known = {document.id for document in documents}
    queries = []
    for id, text in texts.items():
        if relevant := {each: grade for each, grade in judged.get(id, {}).items() if each in known and grade > 0}:
            queries.append(Query(id, text, relevant))
    for what, found in (("document", documents), ("query with a relevant document", queries)):
        if not found:
            raise CommandFailed(Code.EMPTY, f"{folder} holds no {what}")
    used = sum(len(grades.keys() & known) for id, grades in judged.items() if id in texts)
    left_out = sum(map(len, judged.values())) - used
    return Collection(name, documents, queries, len(texts) - len(queries), left_out)


def _rows(folder: Path, stem: str) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Id, fields, and the place in the file. Ids are not repeated."""
    seen: set[str] = set()
    for line, at in _lines(folder / f"{stem}.jsonl"):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise CommandFailed(Code.BROKEN, f"{at} is not JSON: {error}") from None
        id = row.get("_id") if isinstance(row, dict) else None
        if isinstance(id, int) and not isinstance(id, bool):
            id = str(id)
        if not isinstance(id, str) or not 0 < len(id) <= _LONGEST_ID:
            raise CommandFailed(Code.BROKEN, f"{at}: `_id` has to be a text of 1 to {_LONGEST_ID} characters")
        if id in seen:
            raise CommandFailed(Code.BROKEN, f"{at}: `_id` {id} was there before")
        seen.add(id)
        yield id, row, at


def _text(row: dict[str, Any], field: str, at: str) -> str:
    value = row.get(field)
    if value is None and field == "title":
        return ""
    if not isinstance(value, str):
        raise CommandFailed(Code.BROKEN, f"{at}: `{field}` is not a text")
    return value


def _judgments_file(folder: Path) -> Path:
    for name in ("qrels/test.tsv", "qrels.tsv"):
        if (folder / name).is_file():
            return folder / name
    others = sorted((folder / "qrels").glob("*.tsv"))
    if len(others) == 1:
        return others[0]
    found = ", ".join(path.name for path in others) or "nothing"
    raise CommandFailed(Code.NOT_FOUND, f"{folder} has neither qrels/test.tsv nor qrels.tsv; in qrels/ is {found}")


def _judgments(path: Path) -> Grades:
    found: Grades = {}
    for number, (line, at) in enumerate(_lines(path)):
        columns = [column.strip() for column in (line.split("\t") if "\t" in line else line.split())]
        if len(columns) not in (3, 4):
            raise CommandFailed(Code.BROKEN, f"{at} does not have query id, document id and grade")
        grade = _grade(columns[-1])
        if grade is not None:
            found.setdefault(columns[0], {})[columns[-2]] = grade
        elif number > 0:  # the first line may be a head
            raise CommandFailed(Code.BROKEN, f"{at}: {columns[-1]!r} is not a grade")
    return found


def _grade(text: str) -> float | None:
    try:
        grade = float(text)
    except ValueError:
        return None
    return grade if math.isfinite(grade) else None


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Lines that are not blank, each with its place."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield line.rstrip("\r\n"), f"{path}:{number}"
    except FileNotFoundError:
        raise CommandFailed(Code.NOT_FOUND, f"there is no file {path}") from None
    except OSError as error:
        raise CommandFailed(Code.BROKEN, f"{path} can't be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise CommandFailed(Code.BROKEN, f"{path} is not UTF-8: {error.reason}") from None
