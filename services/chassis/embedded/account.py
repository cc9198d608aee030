"""The account a server runs as where this process is root, since Postgres refuses to be root."""

from __future__ import annotations

import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path

PREFERRED = ("postgres", "nobody")


@dataclass(frozen=True, slots=True)
class Account:
    """A user of the machine without privileges."""

    uid: int
    gid: int


def unprivileged_account(folder: Path) -> Account | None:
    """The owner of `folder` if it is there and not root's, else an account of the machine; None if not root now."""
    if os.geteuid() != 0:
        return None
    if folder.exists() and folder.stat().st_uid != 0:
        return Account(folder.stat().st_uid, folder.stat().st_gid)
    for entry in (_entry(name) for name in PREFERRED):
        if entry is not None:
            return Account(entry.pw_uid, entry.pw_gid)
    raise PermissionError(f"Postgres can't run as root, and none of the accounts {', '.join(PREFERRED)} exists")


def can_reach(account: Account, path: Path) -> bool:
    """Whether every folder above a resolved path lets the account through."""
    return all(_lets_through(account, folder.stat()) for folder in path.parents)


def _lets_through(account: Account, folder: os.stat_result) -> bool:
    if folder.st_uid == account.uid:
        return bool(folder.st_mode & stat.S_IXUSR)
    return bool(folder.st_mode & (stat.S_IXGRP if folder.st_gid == account.gid else stat.S_IXOTH))


def _entry(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None
