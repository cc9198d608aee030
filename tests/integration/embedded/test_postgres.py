from __future__ import annotations

import os
import signal
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from services.chassis.embedded.errors import StartFailed
from services.chassis.embedded.ports import free_port
from services.chassis.embedded.postgres import EmbeddedPostgres
from tests.support.postgres import SharedPostgres
from tests.support.processes import eventually, is_alive


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmbeddedPostgres]:
    postgres = EmbeddedPostgres(tmp_path / "pg", fast=True)
    yield postgres
    postgres.stop()


def execute(dsn: str, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def test_has_pgvector_and_words_of_every_language(server: EmbeddedPostgres) -> None:
    server.start()
    execute(server.dsn, "create extension vector; create extension btree_gin")
    assert execute(server.dsn, "select '[1,2]'::vector <=> '[1,2]'") == [(0.0,)]
    assert execute(server.dsn, "select to_tsvector('simple', 'ÉCOLE 中文')::text") == [("'école':1 '中文':2",)]


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_what_was_committed_is_there_after(server: EmbeddedPostgres, end: str) -> None:
    server.start()
    dsn = server.dsn
    execute(dsn, "create table kept as select 1")
    # The sessions of a killed server are there for a moment after it.
    with closing(psycopg.connect(dsn)):
        getattr(server, end)()
        assert not server.running
        server.start()
    assert server.dsn == dsn
    assert execute(dsn, "select * from kept") == [(1,)]


def test_restart_keeps_the_address(server: EmbeddedPostgres) -> None:
    server.start()
    first = server.pid
    server.restart()
    assert server.running
    assert server.pid != first
    server.start()  # no second one
    assert execute(server.dsn, "show synchronous_commit") == [("on",)]


def test_survives_pid_files_of_the_dead_and_of_strangers(server: EmbeddedPostgres, tmp_path: Path) -> None:
    server.start()
    server.kill()
    pid_file = tmp_path / "pg" / "cluster" / "postmaster.pid"
    lines = pid_file.read_text().splitlines()
    # As after a reboot, when some other process has got the number.
    pid_file.write_text("\n".join([str(os.getpid()), *lines[1:]]))
    server.start()
    assert execute(server.dsn, "select 1") == [(1,)]


def test_a_first_start_that_was_cut_off_is_begun_anew(server: EmbeddedPostgres, tmp_path: Path) -> None:
    draft = tmp_path / "pg" / "cluster.draft"
    draft.mkdir(parents=True)
    (draft / "PG_VERSION").write_text("18")
    server.start()
    assert server.running


def test_a_folder_serves_one_server(server: EmbeddedPostgres, tmp_path: Path) -> None:
    server.start()
    with pytest.raises(StartFailed, match="in use"):
        EmbeddedPostgres(tmp_path / "pg").start()
    assert execute(server.dsn, "select 1") == [(1,)]


def test_several_start_at_once_under_long_paths(tmp_path: Path) -> None:
    servers = [EmbeddedPostgres(tmp_path / ("x" * 100) / f"{number}", fast=True) for number in range(3)]
    with ThreadPoolExecutor() as pool:
        list(pool.map(EmbeddedPostgres.start, servers))
    try:
        folders = [execute(server.dsn, "show data_directory")[0][0] for server in servers]
        assert folders == [str(tmp_path / ("x" * 100) / f"{number}" / "cluster") for number in range(3)]
    finally:
        for server in servers:
            server.stop()


def test_nobody_else_gets_in(tmp_path: Path) -> None:
    with EmbeddedPostgres(tmp_path / "pg", port=free_port(), fast=True) as server:
        assert execute(server.tcp_dsn_of("postgres"), "select current_user") == [("postgres",)]
        with pytest.raises(psycopg.OperationalError, match="password"):
            execute(f"postgresql://postgres@127.0.0.1:{server.port}/postgres", "select 1")
        assert execute(server.dsn, "show listen_addresses") == [("127.0.0.1",)]
        assert stat.S_IMODE((tmp_path / "pg" / "cluster").stat().st_mode) == 0o700
        assert stat.S_IMODE((tmp_path / "pg" / "password").stat().st_mode) == 0o600


def test_a_broken_cluster_shows_the_log(server: EmbeddedPostgres, tmp_path: Path) -> None:
    server.start()
    server.stop()
    with (tmp_path / "pg" / "cluster" / "postgresql.conf").open("a") as settings:
        settings.write("no_such_setting = 1\n")
    with pytest.raises(StartFailed, match="no_such_setting"):
        server.start()
    assert not server.running


def test_a_crash_shows(server: EmbeddedPostgres) -> None:
    server.start()
    assert server.pid
    pid = server.pid
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: not server.running)
    assert server.pid is None
    server.start()
    assert not is_alive(pid)


def test_databases_are_made_from_templates(shared_postgres: SharedPostgres, database: str) -> None:
    execute(database, "create table t as select 42")
    copy = shared_postgres.create_database(template=str(psycopg.conninfo.conninfo_to_dict(database)["dbname"]))
    assert execute(copy, "select * from t") == [(42,)]
    with psycopg.connect(copy):
        shared_postgres.drop_database(copy)
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        execute(copy, "select 1")
