from __future__ import annotations

from tests.support.bench import bench
from tests.support.migrated import migrated, migrated_template, postgres, tables

__all__ = ["bench", "migrated", "migrated_template", "postgres", "tables"]
