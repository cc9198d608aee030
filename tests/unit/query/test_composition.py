from __future__ import annotations

import inspect
from collections.abc import Iterator

import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from services.query.__main__ import must_be_loopback
from services.query.api.application import RESOURCES


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_an_open_service_on_loopback(host: str) -> None:
    must_be_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "kb.test", ""])  # noqa: S104
def test_an_open_service_that_others_can_reach(host: str) -> None:
    with pytest.raises(ValueError, match="KB_QUERY_OPEN"):
        must_be_loopback(host)


def test_nothing_that_requests_depend_on_runs_in_a_thread() -> None:
    """FastAPI starts one for each that is not async, which costs a search more than all else around it."""

    def calls(dependant: Dependant) -> Iterator[object]:
        yield dependant.call
        for inner in dependant.dependencies:
            yield from calls(inner)

    routes = [route for resource in RESOURCES for route in resource.router.routes if isinstance(route, APIRoute)]
    assert routes
    for route in routes:
        assert all(map(inspect.iscoroutinefunction, calls(route.dependant))), route.path
