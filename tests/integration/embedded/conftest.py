from __future__ import annotations

from tests.support.kafka import broker, shared_kafka
from tests.support.postgres import database, shared_postgres
from tests.support.tansu import shared_tansu

__all__ = ["broker", "database", "shared_kafka", "shared_postgres", "shared_tansu"]
