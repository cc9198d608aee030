"""The fixture `shared_tansu`: the embedded broker, once for the whole run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services.chassis.embedded.broker import EmbeddedBroker


@pytest.fixture(scope="session")
def shared_tansu() -> Iterator[EmbeddedBroker]:
    """Tests use topics and groups of their own; who restarts or kills a broker starts one of their own."""
    with EmbeddedBroker() as server:
        yield server
