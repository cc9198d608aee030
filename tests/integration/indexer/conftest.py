from __future__ import annotations

import pytest

from services.chassis.postgres import Postgres
from tests.integration.indexer.sources import InHand
from tests.support.bench import bench
from tests.support.migrated import Tables, migrated, migrated_template, postgres, tables
from tests.support.rooms import Rooms

__all__ = ["bench", "migrated", "migrated_template", "postgres", "tables"]


@pytest.fixture
def rooms(postgres: Postgres) -> Rooms:
    return Rooms(postgres)


@pytest.fixture
async def source(tables: Tables, rooms: Rooms) -> InHand:
    return await InHand.make(tables, rooms)
