"""A test collection: documents, questions, and which documents each question should find."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from schemas.codes import Code
from services.cli.failures import CommandFailed


@dataclass(frozen=True, slots=True)
class Document:
    """`title` may be empty."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Query:
    """`relevant` holds the grades, above 0, of the documents that should be found."""

    id: str
    text: str
    relevant: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Collection:
    """Queries without a relevant document are left out, and judgments on documents or queries that are not there."""

    name: str
    documents: Sequence[Document]
    queries: Sequence[Query]
    queries_left_out: int = 0
    judgments_left_out: int = 0


def fingerprint(documents: Iterable[Document]) -> str:
    """SHA-256 of all documents, in their order."""
    digest = sha256()
    for document in documents:
        digest.update(json.dumps([document.id, document.title, document.text]).encode() + b"\n")
    return digest.hexdigest()


def limited(whole: Collection, number: int) -> Collection:
    """At most so many documents: all that the first queries should find, then the first others of the corpus.

    Queries whose documents have no room are left out. Raises CommandFailed where that leaves none.
    """
    kept: set[str] = set()
    queries = []
    for query in whole.queries:
        if len(kept | query.relevant.keys()) <= number:
            kept |= query.relevant.keys()
            queries.append(query)
    if not queries:
        raise CommandFailed(Code.REQUEST_INVALID, f"{whole.name}: no query is answered by {number} documents alone")
    others = (document.id for document in whole.documents if document.id not in kept)
    kept.update([id for id, _ in zip(others, range(number - len(kept)), strict=False)])
    documents = [document for document in whole.documents if document.id in kept]
    left_out = whole.queries_left_out + len(whole.queries) - len(queries)
    return replace(whole, documents=documents, queries=queries, queries_left_out=left_out)


def together(collections: Sequence[Collection]) -> list[Collection]:
    """The same queries, each asked of the documents of all collections. Ids are preceded by the collection's name."""
    documents = [
        replace(document, id=f"{each.name}/{document.id}") for each in collections for document in each.documents
    ]
    return [replace(each, documents=documents, queries=_renamed(each)) for each in collections]


def _renamed(collection: Collection) -> list[Query]:
    prefix = f"{collection.name}/"
    return [
        replace(query, relevant={prefix + document: grade for document, grade in query.relevant.items()})
        for query in collection.queries
    ]
