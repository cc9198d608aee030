"""Small parts of the chassis that everything else stands on."""

from __future__ import annotations

import pickle
import re
from importlib import resources

import psycopg
import pytest

from schemas.codes import CATALOGUE, Code
from services.chassis.errors import DependencyDown, SourceRefused
from services.chassis.migrations import all_migrations
from services.chassis.postgres import passing_errors
from services.chassis.queries import load_queries

FILES = [
    ("services.ledger", "ledger.sql"),
    ("services.fetcher", "intake.sql"),
    ("services.fetcher", "dispatch.sql"),
    ("services.embedder", "store.sql"),
    ("services.indexer", "revision.sql"),
    ("services.indexer", "upkeep.sql"),
    ("services.query", "search.sql"),
    ("services.query", "library.sql"),
    ("services.query", "keys.sql"),
]


def test_every_code_is_explained_and_nothing_else_is() -> None:
    assert set(CATALOGUE) == set(Code)
    assert all(advice.meaning.endswith(".") and advice.remedy.endswith(".") for advice in CATALOGUE.values())


def test_an_error_comes_back_from_another_process_as_it_was() -> None:
    error = pickle.loads(pickle.dumps(SourceRefused(Code.TOO_DEEP, "100 levels")))  # noqa: S301
    assert (type(error), error.code, error.reason) == (SourceRefused, Code.TOO_DEEP, "100 levels")


@pytest.mark.parametrize(("package", "filename"), FILES)
def test_every_query_is_described(package: str, filename: str) -> None:
    text = resources.files(package).joinpath(filename).read_text(encoding="utf-8")
    queries = load_queries(package, filename)
    assert len(queries) == text.count("-- name:")
    assert all(queries.values())


def test_migrations_are_numbered_without_gaps() -> None:
    numbers = [int(re.match(r"\d+", step.name).group()) for step in all_migrations()]  # type: ignore[union-attr]
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize(
    "error", [psycopg.OperationalError("gone"), psycopg.errors.AdminShutdown("stop"), psycopg.errors.DeadlockDetected()]
)
def test_errors_of_postgres_that_pass_say_so(error: Exception) -> None:
    with pytest.raises(DependencyDown) as down, passing_errors():
        raise error
    assert down.value.code == Code.POSTGRES_DOWN


@pytest.mark.parametrize(
    "error",
    [
        psycopg.errors.UniqueViolation(),
        psycopg.errors.ProgramLimitExceeded(),  # an OperationalError all the same
        psycopg.errors.UndefinedTable(),
    ],
)
def test_errors_of_postgres_that_stay_are_left_alone(error: Exception) -> None:
    with pytest.raises(type(error)), passing_errors():
        raise error
