"""All stages on a database of a module, for tests that are not asynchronous themselves, as Hypothesis runs them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar
from uuid import UUID

import pytest

from tests.support.migrated import Tables, pipeline_postgres
from tests.support.rooms import Rooms

T = TypeVar("T")


@dataclass
class Bench:
    """One loop for all examples, so that connections are made once."""

    runner: asyncio.Runner
    rooms: Rooms
    tables: Tables
    numbers: Iterator[int]

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(coroutine)

    def organization(self) -> UUID:
        """A new one. Nothing of the earlier ones is due any more, should one have failed halfway."""
        self.tables.rows("update knowledge_source set due_at = null where due_at is not null")
        self.rooms.publisher.clear()
        self.rooms.publisher.delivered.clear()
        return UUID(int=next(self.numbers))


@pytest.fixture(scope="module")
def bench(migrated: str) -> Iterator[Bench]:
    """The space of the fakes is registered."""
    with asyncio.Runner() as runner:
        postgres = pipeline_postgres(migrated)
        runner.run(postgres.open())
        rooms = Rooms(postgres)
        runner.run(rooms.store.register())
        tables = Tables(migrated)
        yield Bench(runner, rooms, tables, count(1))
        tables.close()
        runner.run(postgres.close())
