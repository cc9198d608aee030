from __future__ import annotations

import pytest

from services.query.__main__ import must_be_loopback


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_an_open_service_on_loopback(host: str) -> None:
    must_be_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "kb.test", ""])  # noqa: S104
def test_an_open_service_that_others_can_reach(host: str) -> None:
    with pytest.raises(ValueError, match="KB_QUERY_OPEN"):
        must_be_loopback(host)
