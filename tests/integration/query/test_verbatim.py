"""Identifiers out of real code lead to the chunk that holds them, by words alone and beside meaningless vectors."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from uuid import UUID

import numpy as np
import psycopg
import pytest

from services.chassis.queries import load_queries
from tests.benchmarks.search_rounds import parameters
from tests.benchmarks.texts import SHARED
from tests.support.filled import Filled, organization_id
from tests.support.postgres import SharedPostgres

CORPUS = SHARED / "data/ir/rust-code-chunks/corpus.jsonl"
SEARCH = load_queries("services.query", "search.sql")["search"]
DIMENSIONS = 64
KINDS = {
    "snake_case": r"\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b",
    "CamelCase": r"\b[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+\b",
    "path": r"\b\w+(?:::\w+){1,4}\b",
    "file": r"\b[\w-]+(?:/[\w.-]+)+\.\w+\b",
    "version": r"\bv?\d+\.\d+\.\d+\b",
    "code": r"\b[A-Z]{1,4}-?\d{3,5}\b",
    "CONSTANT": r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b",
    "method": r"\b\w+\.\w+\(",
}


@pytest.fixture(scope="module")
def texts() -> list[str]:
    if not CORPUS.is_file():
        pytest.skip(f"{CORPUS} is not there")
    with CORPUS.open(encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


@pytest.fixture(scope="module")
def filled(texts: list[str], shared_postgres: SharedPostgres) -> Iterator[Filled]:
    dsn = shared_postgres.create_database()
    filled = Filled(dsn, DIMENSIONS)
    filled.write(texts, noise(len(texts)), [0] * len(texts))
    yield filled
    shared_postgres.drop_database(dsn)


def noise(rows: int, seed: int = 1) -> np.ndarray:
    """Vectors without meaning."""
    return np.random.default_rng(seed).standard_normal((rows, DIMENSIONS)).astype("f4")


def identifiers(texts: list[str], pattern: str, most: int = 60) -> list[str]:
    """Some that few chunks hold: of one that all hold nobody asks where it is."""
    holders = Counter(found for text in texts for found in set(re.findall(pattern, text)))
    rare = sorted(name for name, count in holders.items() if count <= 3 and 4 <= len(name) <= 120)
    return random.Random(7).sample(rare, min(most, len(rare)))


def best(connection: psycopg.Connection, query: str, vector: np.ndarray | None, fusion: str) -> list[UUID]:
    """The first three."""
    given = parameters(query, vector, organization_id(0)) | {"fusion": fusion, "most": 3}
    return [row[0] for row in connection.execute(SEARCH, given).fetchall()]


@pytest.mark.parametrize("fusion", ["keyword", "scores"])
@pytest.mark.parametrize("kind", KINDS)
def test_identifiers_find_their_chunk(filled: Filled, texts: list[str], kind: str, fusion: str) -> None:
    names = identifiers(texts, KINDS[kind])
    missed = []
    with psycopg.connect(filled.dsn) as connection:
        connection.execute("select set_config('app.organization_id', %s, false)", (str(organization_id(0)),))
        for name, vector in zip(names, noise(len(names), seed=2), strict=True):
            found = best(connection, name, vector if fusion == "scores" else None, fusion)
            if not any(name in texts[filled.row_of[chunk]] for chunk in found):
                missed.append(name)
    # Vectors of a model know something of most names; these are the worst case.
    assert len(missed) <= (0.05 if fusion == "keyword" else 0.2) * len(names), missed
