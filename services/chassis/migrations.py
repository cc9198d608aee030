"""Applies the numbered SQL files to a database: each once, in order, in a transaction, under a lock."""

from __future__ import annotations

import hashlib
import re
from importlib import resources
from typing import NamedTuple

import psycopg

_LOCK = 0x6B625F6D  # "kb_m": one migration at a time for the whole database


class Migration(NamedTuple):
    """A numbered file of `schemas/database`."""

    name: str
    sql: str

    @property
    def checksum(self) -> str:
        """SHA-256 of the file."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


class MigrationChanged(Exception):
    """A migration that was applied is not what it was then."""


def all_migrations() -> list[Migration]:
    """The files, in order."""
    folder = resources.files("schemas.database")
    names = sorted(entry.name for entry in folder.iterdir() if re.fullmatch(r"\d{4}_\w+\.sql", entry.name))
    return [Migration(name, folder.joinpath(name).read_text(encoding="utf-8")) for name in names]


def migrate(dsn: str) -> list[str]:
    """Bring the database up to date; gives the names of what was applied. Raises MigrationChanged."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("select pg_advisory_lock(%s)", (_LOCK,))
        connection.execute(
            "create table if not exists migration (name text primary key, checksum text not null, "
            "applied_at timestamptz not null default now())"
        )
        done: dict[str, str] = dict(connection.execute("select name, checksum from migration").fetchall())
        return [step.name for step in all_migrations() if _apply(connection, step, done.get(step.name))]


def _apply(connection: psycopg.Connection[tuple[object, ...]], step: Migration, applied: str | None) -> bool:
    if applied == step.checksum:
        return False
    if applied is not None:
        raise MigrationChanged(f"{step.name} was changed after it had been applied")
    with connection.transaction():
        connection.execute(step.sql.encode())
        connection.execute("insert into migration (name, checksum) values (%s, %s)", (step.name, step.checksum))
    return True
