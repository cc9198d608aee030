"""Becomes another program that dies with the process that wanted it. A script of its own, run by `spawn`.

Arguments: parent's pid, signal at the parent's death, uid and gid to become ("-" to stay), "reach" or "-", then the
program by its path with its arguments. "reach" keeps the right to pass folders that are closed to the new account.
Imports the standard library only, since it runs without site-packages, and all of it at the top, since the new account
may not be able to read it. What it has to say goes to the child's log.
"""

from __future__ import annotations

import ctypes
import os
import sys

PR_SET_PDEATHSIG = 1
PR_SET_KEEPCAPS = 8
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_RAISE = 2
CAPABILITY_VERSION_3 = 0x20080522
# Reading would do, but containers are often given only the wider right.
CAP_DAC_READ_SEARCH = 2
CAP_DAC_OVERRIDE = 1


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Word(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def _call(name: str, *arguments: object) -> None:
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments) != 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")


def _prctl(option: int, value: int, third: int = 0) -> None:
    longs = [ctypes.c_ulong(number) for number in (value, third, 0, 0)]
    _call("prctl", ctypes.c_int(option), *longs)


def _keep_reach() -> None:
    """Of all capabilities kept over the change of account, leave the one that passes closed folders."""
    header, words = _Header(CAPABILITY_VERSION_3, 0), (_Word * 2)()
    _call("capget", ctypes.byref(header), words)
    kept = next((bit for bit in (CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE) if words[0].permitted & 1 << bit), None)
    if kept is None:
        raise PermissionError("the account can't pass the folders above, and no capability lets it")
    mask = 1 << kept
    _call("capset", ctypes.byref(header), (_Word * 2)(_Word(mask, mask, mask), _Word(0, 0, 0)))
    _prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, kept)


def _become(uid: int, gid: int, reach: bool) -> None:
    if reach:
        _prctl(PR_SET_KEEPCAPS, 1)
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)
    if reach:
        _keep_reach()


def main(arguments: list[str]) -> None:
    """Never returns: the program takes over the process, or the process ends with 126."""
    parent, death_signal, uid, gid, reach, *program = arguments
    try:
        if uid != "-":
            _become(int(uid), int(gid), reach == "reach")
        if sys.platform == "linux":
            # After the change of account, which clears it.
            _prctl(PR_SET_PDEATHSIG, int(death_signal))
            if os.getppid() != int(parent):
                sys.exit("the parent is gone already")
        os.execv(program[0], program)  # noqa: S606
    except OSError as error:
        sys.stderr.write(f"{program[0]}: {error}\n")
        sys.exit(126)


if __name__ == "__main__":
    main(sys.argv[1:])
