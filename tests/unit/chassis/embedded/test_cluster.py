from __future__ import annotations

import os
from pathlib import Path

import pytest

from services.chassis.embedded.account import Account, can_reach
from services.chassis.embedded.cluster import LONGEST_SOCKET_NAME, SOCKET_PATH_BYTES, Cluster
from services.chassis.embedded.errors import StartFailed


@pytest.mark.parametrize("length", [1, 60, 90, 200])
def test_the_socket_path_is_never_too_long(length: int) -> None:
    cluster = Cluster(Path("/") / ("ü" * length))
    assert len(os.fsencode(cluster.socket_folder / LONGEST_SOCKET_NAME)) <= SOCKET_PATH_BYTES


def test_two_folders_with_long_paths_have_sockets_of_their_own() -> None:
    long = Path("/") / ("x" * 120)
    assert Cluster(long / "a").socket_folder != Cluster(long / "b").socket_folder


def test_a_socket_folder_that_is_open_to_others_is_refused(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path / ("x" * 110))
    cluster.socket_folder.mkdir(mode=0o755)
    try:
        with pytest.raises(StartFailed, match="alone"):
            cluster.make_socket_folder()
    finally:
        cluster.socket_folder.rmdir()


def test_a_folder_is_taken_once(tmp_path: Path) -> None:
    descriptor = Cluster(tmp_path).lock()
    with pytest.raises(StartFailed, match="in use"):
        Cluster(tmp_path).lock()
    os.close(descriptor)
    os.close(Cluster(tmp_path).lock())


def test_reach_is_what_the_modes_of_the_folders_above_say(tmp_path: Path) -> None:
    stranger, owner = Account(12345, 12345), Account(os.getuid(), os.getgid())
    tmp_path.chmod(0o700)
    assert not can_reach(stranger, tmp_path / "file")
    assert can_reach(stranger, Path("/file"))
    tmp_path.chmod(0o600)
    assert not can_reach(owner, tmp_path / "file")
    tmp_path.chmod(0o700)
