"""Many rows of the ledger at once, without events."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from schemas.identifiers import default_knowledge_base_id
from tests.support.migrated import Tables


def fill(
    tables: Tables,
    organization: UUID,
    count: int,
    *,
    name: str = "source",
    priority: int = 1,
    age: float = 1.0,
    **row: Any,
) -> None:
    """Text sources that have been due for `age` seconds, or, where age is negative, are due in a while.

    `row` are columns that differ from those of a source that was just submitted.
    """
    base = default_knowledge_base_id(organization)
    tables.rows("select ensure_organization(%s, %s)", organization, base)
    columns = {
        "organization_id": organization,
        "knowledge_base_id": base,
        "kind": "text",
        "body_key": f"organizations/{organization}/bodies/x",
        "status": "pending",
        "stage": "queued",
        "priority": priority,
        **row,
    }
    tables.rows(
        f"insert into knowledge_source ({', '.join(columns)}, id, external_id, due_at, wish_time) "
        f"select {', '.join(['%s'] * len(columns))}, gen_random_uuid(), %s || ' ' || number, "
        "now() - %s * interval '1 second', now() from generate_series(1, %s) number",
        *columns.values(),
        name,
        age,
        count,
    )
