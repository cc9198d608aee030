"""The tables of an organization in a form that two runs can be compared by: everything but times and chosen ids."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import psycopg
from psycopg import sql

TABLES = (
    "knowledge_base",
    "knowledge_source",
    "taken_event",
    "source_event",
    "embedding_usage",
    "chunk",
    "chunk_place",
    "chunk_words",
    "revision_batch",
)
_TIMES = ("_at", "_time")
_DROPPED = {"source_event": ("id",), "knowledge_source": ("field_orders",)}


def dump(dsn: str, organization: UUID) -> dict[str, list[str]]:
    """The rows of each table, ids replaced by names that do not depend on the organization's own id."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        names = _names(connection, organization)
        found = {table: _rows(connection, table, organization, names) for table in TABLES}
        for (space,) in connection.execute("select id from embedding_space order by id").fetchall():
            table = f"chunk_vector_{space}"
            found[table] = _rows(connection, table, organization, names)
    return found


def _names(connection: psycopg.Connection[Any], organization: UUID) -> dict[str, str]:
    names = {str(organization): "organization"}
    bases = connection.execute("select id, name from knowledge_base where organization_id = %s", (organization,))
    names |= {str(id_): f"base {name}" for id_, name in bases}
    sources = connection.execute(
        "select id, external_id from knowledge_source where organization_id = %s", (organization,)
    )
    names |= {str(id_): f"source {name}" for id_, name in sources}
    chunks = connection.execute(
        "select p.chunk_id, s.external_id, p.ordinal from chunk_place p join knowledge_source s "
        "on s.organization_id = p.organization_id and s.id = p.source_id where p.organization_id = %s",
        (organization,),
    )
    return names | {str(id_): f"chunk {name} {ordinal}" for id_, name, ordinal in chunks}


def _rows(connection: psycopg.Connection[Any], table: str, organization: UUID, names: dict[str, str]) -> list[str]:
    query = sql.SQL("select to_jsonb(t) from {} t where organization_id = %s").format(sql.Identifier(table))
    rows = []
    for (row,) in connection.execute(query, (organization,)):
        if table == "source_event":
            row["published"] = row["published_at"] is not None
        kept = {
            name: value
            for name, value in row.items()
            if not name.endswith(_TIMES) and name not in _DROPPED.get(table, ())
        }
        text = json.dumps(kept, sort_keys=True, ensure_ascii=False)
        for id_, name in names.items():
            text = text.replace(id_, name)
        rows.append(text)
    return sorted(rows)
