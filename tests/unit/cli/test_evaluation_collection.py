"""Reading collections, cutting them down, putting them together."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from services.cli.evaluation.collection import Collection, Document, Query, fingerprint, limited, together
from services.cli.evaluation.layout import read_collections
from services.cli.failures import CommandFailed

CORPUS: list[Any] = [
    {"_id": "a", "title": "Apes", "text": "Apes climb."},
    {"_id": "b", "text": "Bees fly."},
    {"_id": 3, "title": None, "text": ""},
]
QUERIES: list[Any] = [{"_id": "q1", "text": "who climbs"}, {"_id": "q2", "text": "who flies", "metadata": {}}]
JUDGMENTS = "query-id\tcorpus-id\tscore\nq1\ta\t2\nq1\t3\t1\nq2\tb\t1\n"

Write = Callable[..., Path]


def lines(rows: list[Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a collection; a file that is None is not written."""

    def written(name: str = "set", **files: str | None) -> Path:
        folder = tmp_path / name
        given: dict[str, str | None] = {"corpus": lines(CORPUS), "queries": lines(QUERIES), "qrels": JUDGMENTS} | files
        names = {"corpus": "corpus.jsonl", "queries": "queries.jsonl", "qrels": "qrels/test.tsv", "flat": "qrels.tsv"}
        for key, text in given.items():
            path = folder / names.get(key, key)
            path.parent.mkdir(parents=True, exist_ok=True)
            if text is not None:
                path.write_text(text, encoding="utf-8")
        return folder

    return written


def read(folder: Path) -> Collection:
    (collection,) = read_collections([folder])
    return collection


def test_documents_queries_and_grades_are_read(write: Write) -> None:
    found = read(write())
    assert found.name == "set"
    assert list(found.documents) == [
        Document("a", "Apes", "Apes climb."),
        Document("b", "", "Bees fly."),
        Document("3", "", ""),
    ]
    assert list(found.queries) == [Query("q1", "who climbs", {"a": 2, "3": 1}), Query("q2", "who flies", {"b": 1})]
    assert (found.queries_left_out, found.judgments_left_out) == (0, 0)


@pytest.mark.parametrize(
    "files",
    [
        {"qrels": None, "flat": JUDGMENTS},
        {"qrels": None, "qrels/dev.tsv": JUDGMENTS},
        {"qrels": JUDGMENTS.partition("\n")[2]},
        {"qrels": "q1 0 a 2\nq1 0 3 1\n\nq2 Q0 b 1\n"},
        {"qrels": "\ufeff" + JUDGMENTS.replace("\n", "\r\n")},
    ],
    ids=["beside", "only one", "no head", "trec", "windows"],
)
def test_judgments_come_in_several_forms(write: Write, files: dict[str, Any]) -> None:
    assert read(write(**files)).queries == read(write("plain")).queries


def test_what_can_not_be_found_is_left_out_and_counted(write: Write) -> None:
    queries = [*QUERIES, {"_id": "q3", "text": "nothing is judged"}, {"_id": "q4", "text": "of grade 0"}]
    found = read(write(queries=lines(queries), qrels=JUDGMENTS + "q1\tgone\t1\nq9\ta\t1\nq4\ta\t0\n"))
    assert [query.id for query in found.queries] == ["q1", "q2"]
    assert (found.queries_left_out, found.judgments_left_out) == (2, 2)


@pytest.mark.parametrize(
    ("files", "code", "said"),
    [
        ({"corpus": None}, "NOT_FOUND", "corpus.jsonl"),
        ({"queries": None}, "NOT_FOUND", "queries.jsonl"),
        ({"qrels": None}, "NOT_FOUND", "nothing"),
        ({"qrels": None, "qrels/dev.tsv": "", "qrels/train.tsv": ""}, "NOT_FOUND", "dev.tsv, train.tsv"),
        ({"corpus": '{"_id": "a", "text": "x"}\n{"_id": \n'}, "BROKEN", "corpus.jsonl:2 is not JSON"),
        ({"corpus": "[" * 200_000}, "BROKEN", "corpus.jsonl:1 is not JSON"),
        ({"corpus": "[1]\n"}, "BROKEN", "`_id`"),
        ({"corpus": '{"text": "x"}\n'}, "BROKEN", "`_id`"),
        ({"corpus": '{"_id": "", "text": "x"}\n'}, "BROKEN", "`_id`"),
        ({"corpus": '{"_id": "a"}\n'}, "BROKEN", "`text`"),
        ({"corpus": '{"_id": "a", "text": "x", "title": 3}\n'}, "BROKEN", "`title`"),
        ({"corpus": lines([CORPUS[0], CORPUS[0]])}, "BROKEN", "corpus.jsonl:2: `_id` a was there before"),
        ({"queries": '{"_id": "q1", "text": ["x"]}\n'}, "BROKEN", "queries.jsonl:1"),
        ({"qrels": "q1\ta\n"}, "BROKEN", "test.tsv:1"),
        ({"qrels": "q1\ta\t1\nq1\tb\tmuch\n"}, "BROKEN", "test.tsv:2: 'much'"),
        ({"qrels": "q1\ta\t1\nq1\tb\tinf\n"}, "BROKEN", "test.tsv:2: 'inf'"),
        ({"corpus": ""}, "EMPTY", "document"),
        ({"queries": "\n\n"}, "EMPTY", "query"),
        ({"qrels": "q1\tgone\t1\n"}, "EMPTY", "query with a relevant document"),
    ],
)
def test_an_error_names_its_place(write: Write, files: dict[str, Any], code: str, said: str) -> None:
    with pytest.raises(CommandFailed) as failed:
        read(write(**files))
    assert failed.value.code == code
    assert said in failed.value.reason


def test_a_file_that_is_not_utf8_is_named(write: Write) -> None:
    folder = write()
    (folder / "corpus.jsonl").write_bytes(b'{"_id": "a", "text": "caf\xe9"}\n')
    with pytest.raises(CommandFailed, match=r"corpus\.jsonl is not UTF-8"):
        read(folder)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="NOT_FOUND: there is no folder"):
        read(tmp_path / "none")


def test_folders_of_one_name_are_told_apart_and_a_folder_counts_once(write: Write) -> None:
    first, second = write("one/set"), write("two/set")
    assert [each.name for each in read_collections([first, second, first])] == [str(first), str(second)]


def collection(name: str, documents: int, relevant: list[list[int]]) -> Collection:
    return Collection(
        name,
        [Document(f"d{number}", "", f"text {number}") for number in range(documents)],
        [Query(f"q{at}", f"query {at}", {f"d{each}": 1.0 for each in wanted}) for at, wanted in enumerate(relevant)],
    )


def test_a_cut_collection_keeps_what_its_queries_should_find() -> None:
    found = limited(collection("set", 10, [[9], [7, 8, 9], [1, 2, 3], [7]]), 5)
    assert [document.id for document in found.documents] == ["d0", "d1", "d7", "d8", "d9"]
    assert [query.id for query in found.queries] == ["q0", "q1", "q3"]
    assert found.queries_left_out == 1
    whole = collection("set", 10, [[9]])
    assert limited(whole, 10) == limited(whole, 99) == whole


def test_a_cut_that_leaves_no_query_is_refused() -> None:
    with pytest.raises(CommandFailed, match="set: no query"):
        limited(collection("set", 3, [[0, 1]]), 1)


def test_collections_that_are_asked_together_keep_their_queries() -> None:
    first, second = together([collection("one", 2, [[1]]), collection("two", 1, [[0]])])
    assert first.documents == second.documents
    assert [document.id for document in first.documents] == ["one/d0", "one/d1", "two/d0"]
    assert [dict(query.relevant) for query in (*first.queries, *second.queries)] == [{"one/d1": 1.0}, {"two/d0": 1.0}]


def test_documents_that_differ_have_another_fingerprint() -> None:
    documents = [Document("a", "b", "c"), Document("d", "", "e")]
    others = [
        documents[:1],
        documents[::-1],
        [Document("a", "", "bc"), documents[1]],
        [Document("a", "b", "C"), documents[1]],
    ]
    assert fingerprint(documents) == fingerprint(list(documents))
    assert len({fingerprint(each) for each in [documents, *others]}) == 5
