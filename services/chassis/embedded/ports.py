"""TCP ports on loopback, and whether a Kafka broker answers on one."""

from __future__ import annotations

import random
import socket
import struct
import time
from collections.abc import Callable

POLL_SECONDS = 0.02
# Below the range from which the kernel takes the ports of outgoing connections (Linux 32768, macOS 49152): in that
# range a client that dials a server which is down can be connected to itself, and the server never gets its port back.
PORTS = range(10_000, 32_768)
API_VERSIONS = struct.pack(">ihhih", 10, 18, 0, 1, -1)


def free_port() -> int:
    """A port on which nobody listens now. Nothing reserves it."""
    for port in random.sample(PORTS, 1_000):
        if is_free(port):
            return port
    raise OSError("no free port on 127.0.0.1")


def is_free(port: int) -> bool:
    """Whether a server could bind it now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def kafka_answers(port: int) -> bool:
    """Whether a broker answers an ApiVersions request within a second."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(API_VERSIONS)
            return len(connection.recv(8, socket.MSG_WAITALL)) == 8
    except OSError:
        return False


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Polls until the condition holds; False if it never did within that many seconds."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True
