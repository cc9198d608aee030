from __future__ import annotations

import socket

from services.chassis.embedded.ports import PORTS, free_port, is_free, kafka_answers, wait_until


def test_free_port_is_below_the_range_of_outgoing_connections() -> None:
    port = free_port()
    assert port in PORTS
    assert is_free(port)


def test_a_port_with_a_listener_is_not_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert not is_free(server.getsockname()[1])


def test_who_accepts_and_hangs_up_is_no_broker() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        server.settimeout(0)
        assert not kafka_answers(port)
    assert not kafka_answers(port)


def test_wait_until_gives_up() -> None:
    assert wait_until(lambda: True, 0)
    assert not wait_until(lambda: False, 0)
